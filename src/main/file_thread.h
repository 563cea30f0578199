// FileThread: one thread on which files of tasks are read whole.
#pragma once

#include <boost/asio/thread_pool.hpp>

#include "node/owner/file_work.h"

namespace outhaul {

class FileThread final : public node::FileWork {
 public:
  // The executor's context outlives this; destroying it waits for the job under way.
  explicit FileThread(Executor executor) : executor_(std::move(executor)) {}
  ~FileThread() override { thread_.join(); }
  FileThread(const FileThread&) = delete;
  FileThread& operator=(const FileThread&) = delete;

  Task<void> run(std::function<void()> job) override;

 private:
  Executor executor_;
  asio::thread_pool thread_{1};
};

}  // namespace outhaul
