#include "cli/readiness.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace outhaul::cli {

// An epoll instance of our own around the descriptor: only its mode is changed.
struct Readiness::Watch {
  Watch(const Executor& executor, int epoll) : stream(executor, epoll) {}
  asio::posix::stream_descriptor stream;
};

Readiness::Readiness(const Executor& executor, int descriptor, For purpose) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return;
  epoll_event event{};
  event.events = purpose == For::reading ? EPOLLIN : EPOLLOUT;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) {
    watch_ = std::make_unique<Watch>(executor, epoll);
  } else {
    ::close(epoll);
  }
}

Readiness::~Readiness() = default;

Task<void> Readiness::wait() {
  if (watch_)
    co_await watch_->stream.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

}  // namespace outhaul::cli
