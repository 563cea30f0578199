#include "http/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace outhaul::http {
namespace {

// Small enough that a keystroke behind bulk data leaves at once, large enough to keep a link busy.
constexpr int max_unsent_bytes = 128 * 1024;

void set_option(int descriptor, int level, int option, int value) {
  // Fails on a socket pair, which needs neither.
  static_cast<void>(::setsockopt(descriptor, level, option, &value, sizeof value));
}

}  // namespace

Socket::Socket(const Executor& executor, int descriptor)
    : descriptor_(executor, descriptor), native_(descriptor) {
  boost::system::error_code ignored;
  descriptor_.non_blocking(true, ignored);
  set_option(native_, IPPROTO_TCP, TCP_NODELAY, 1);
}

Task<Result<void>> Socket::wait_readable() { return wait(asio::posix::stream_descriptor::wait_read); }
Task<Result<void>> Socket::wait_writable() { return wait(asio::posix::stream_descriptor::wait_write); }

Task<Result<void>> Socket::wait(asio::posix::stream_descriptor::wait_type type) {
  if (!is_open()) co_return fail(ErrorCode::unavailable, "connection: closed");
  boost::system::error_code error;
  co_await descriptor_.async_wait(type, asio::redirect_error(asio::use_awaitable, error));
  if (error != asio::error::operation_aborted) co_return Result<void>();
  // Either this coroutine was cancelled, or somebody closed the socket under it.
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) throw boost::system::system_error(error);
  co_return fail(ErrorCode::unavailable, "connection: closed");
}

void Socket::close() {
  if (!is_open()) return;
  ::shutdown(std::exchange(native_, -1), SHUT_WR);
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

int Socket::release() {
  native_ = -1;
  return descriptor_.release();
}

void Socket::limit_unsent() {
  if (is_open()) set_option(native_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, max_unsent_bytes);
}

std::string peer_address(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getpeername(descriptor, address, &size) != 0) return "local";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  return "local";
}

}  // namespace outhaul::http
