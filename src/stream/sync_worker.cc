#include "stream/sync_worker.h"

#include <unistd.h>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <cerrno>

namespace outhaul::stream {

Descriptor::~Descriptor() { ::close(number_); }

SyncWorker::SyncWorker(Executor executor) : executor_(std::move(executor)), thread_([this] { run(); }) {}

SyncWorker::~SyncWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SyncWorker::sync(std::shared_ptr<Descriptor> descriptor, Depth depth, Done done) {
  Job job{.descriptor = std::move(descriptor),
          .depth = depth,
          .done = std::move(done),
          .busy = asio::prefer(executor_, asio::execution::outstanding_work.tracked)};
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void SyncWorker::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const int fd = job.descriptor->number();
    const int result = job.depth == Depth::data ? ::fdatasync(fd) : ::fsync(fd);
    const int error_number = result == 0 ? 0 : errno;
    const Executor busy = job.busy;
    // The job goes along: what it holds is released on the executor's thread, where its owners live.
    asio::post(busy, [job = std::move(job), error_number] { job.done(error_number); });
  }
}

SyncQueue::SyncQueue(std::shared_ptr<SyncWorker> worker, std::shared_ptr<Descriptor> descriptor,
                     SyncWorker::Depth depth)
    : state_(std::make_shared<State>()) {
  state_->worker = std::move(worker);
  state_->descriptor = std::move(descriptor);
  state_->depth = depth;
}

void SyncQueue::start_next(const std::shared_ptr<State>& state) {
  state->running = std::exchange(state->next, nullptr);
  if (state->running == nullptr) return;
  // Weak: the worker's last holder may be this very state, and the thread must not join itself.
  state->worker->sync(state->descriptor, state->depth,
                      [weak = std::weak_ptr(state), batch = state->running](int error) {
                        batch->error_number = error;
                        batch->ended.set();
                        if (const auto alive = weak.lock()) start_next(alive);
                      });
}

Task<int> SyncQueue::sync() {
  // The one that runs may have begun before the caller's last write: only the next one covers it.
  if (state_->next == nullptr) state_->next = std::make_shared<Batch>(state_->worker->executor());
  const auto batch = state_->next;
  if (state_->running == nullptr) start_next(state_);
  co_await batch->ended.wait();
  co_return batch->error_number;
}

}  // namespace outhaul::stream
