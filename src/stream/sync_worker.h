// SyncWorker: the thread on which FileDisk syncs. One descriptor at a time, in the order asked for; each
// outcome is posted to the executor, whose context is kept at work until then.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/event.h"
#include "base/task.h"

namespace outhaul::stream {

// A file descriptor that closes with its last holder: a file may be closed while it is being synced.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

class SyncWorker {
 public:
  enum class Depth { data, data_and_metadata };
  // Gets the system's error number, 0 for success, on the executor.
  using Done = std::function<void(int error_number)>;

  explicit SyncWorker(Executor executor);
  // Finishes what was asked for, then ends the thread.
  ~SyncWorker();
  SyncWorker(const SyncWorker&) = delete;
  SyncWorker& operator=(const SyncWorker&) = delete;

  void sync(std::shared_ptr<Descriptor> descriptor, Depth depth, Done done);
  const Executor& executor() const { return executor_; }

 private:
  struct Job {
    std::shared_ptr<Descriptor> descriptor;
    Depth depth;
    Done done;
    Executor busy;  // tracks outstanding work: run() does not return while a sync is under way
  };
  void run();

  Executor executor_;
  std::mutex mutex_;  // guards jobs_ and is_ending_; everything else stays on one thread
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool is_ending_ = false;
  std::thread thread_;
};

// Group commit for one descriptor: while a sync runs, later callers wait for the next one, together.
class SyncQueue {
 public:
  SyncQueue(std::shared_ptr<SyncWorker> worker, std::shared_ptr<Descriptor> descriptor,
            SyncWorker::Depth depth);
  // Gives the error number; everything that was written before the call is covered.
  Task<int> sync();

 private:
  struct Batch {
    explicit Batch(const Executor& executor) : ended(executor) {}
    Event ended;
    int error_number = 0;
  };
  // Shared with the completion, which may run after the queue is gone.
  struct State {
    std::shared_ptr<SyncWorker> worker;
    std::shared_ptr<Descriptor> descriptor;
    SyncWorker::Depth depth;
    std::shared_ptr<Batch> running;
    std::shared_ptr<Batch> next;
  };
  static void start_next(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace outhaul::stream
