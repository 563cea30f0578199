#include "main/file_thread.h"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include "base/event.h"

namespace outhaul {

Task<void> FileThread::run(std::function<void()> job) {
  const auto done = std::make_shared<Event>(executor_);
  // The loop does not end while somebody waits for it.
  Executor busy = asio::prefer(executor_, asio::execution::outstanding_work.tracked);
  asio::post(thread_, [job = std::move(job), done, busy = std::move(busy)]() mutable {
    job();
    const auto back = busy;
    // All of it goes along: what it holds is released on the strand, where its owners live.
    asio::post(back, [job = std::move(job), done = std::move(done), busy = std::move(busy)] { done->set(); });
  });
  co_await done->wait();
}

}  // namespace outhaul
