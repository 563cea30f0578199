#include "http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace outhaul::http {
namespace {

// Long enough for others to give descriptors back, short enough not to be noticed.
constexpr Duration pause_when_exhausted = std::chrono::milliseconds(50);

using Endpoint = asio::ip::tcp::endpoint;

int open_reserve() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

std::unexpected<Error> listen_failure(const ListenAddress& address, int reason) {
  ErrorCode code = ErrorCode::unavailable;
  if (reason == EADDRINUSE) code = ErrorCode::conflict;
  if (reason == EACCES || reason == EPERM) code = ErrorCode::denied;
  if (reason == EADDRNOTAVAIL || reason == EAFNOSUPPORT) code = ErrorCode::invalid;
  return fail(code, "listen on " + address.text() + ": " + ::strerrordesc_np(reason));
}

void allow_all(int descriptor, const Endpoint& endpoint) {
  constexpr int on = 1;
  constexpr int off = 0;
  // A restarted hub must not wait for the old one's connections to leave the kernel.
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (endpoint.protocol() == asio::ip::tcp::v6())
    ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
}

std::uint16_t bound_port(int descriptor) {
  Endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  ::getsockname(descriptor, endpoint.data(), &size);
  return endpoint.port();
}

bool is_exhausted(int reason) {
  return reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM;
}

}  // namespace

Result<Listener> Listener::open(const Executor& executor, AsyncClock& clock, const ListenAddress& address) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address.host, error);
  if (error) return fail(ErrorCode::invalid, "listen: " + address.text() + " is no address");
  const Endpoint endpoint(ip, address.port);
  const int descriptor =
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return listen_failure(address, errno);
  allow_all(descriptor, endpoint);
  if (::bind(descriptor, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(descriptor, backlog) != 0) {
    const int reason = errno;
    ::close(descriptor);
    return listen_failure(address, reason);
  }
  ListenAddress bound{address.host, bound_port(descriptor)};
  return Listener(executor, clock, descriptor, std::move(bound));
}

Listener::Listener(const Executor& executor, AsyncClock& clock, int descriptor, ListenAddress address)
    : descriptor_(executor, descriptor),
      clock_(clock),
      address_(std::move(address)),
      reserved_(open_reserve()) {}

Listener::Listener(Listener&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      clock_(other.clock_),
      address_(std::move(other.address_)),
      reserved_(std::exchange(other.reserved_, -1)) {}

Listener::~Listener() {
  if (reserved_ >= 0) ::close(reserved_);
}

Task<Result<int>> Listener::accept() {
  while (descriptor_.is_open()) {
    const int accepted =
        ::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) co_return accepted;
    if (is_exhausted(errno)) {
      co_await refuse_one();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      boost::system::error_code closed;
      co_await descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                                      asio::redirect_error(asio::use_awaitable, closed));
    }
    // Anything else is the fault of one client that has gone already.
  }
  co_return fail(ErrorCode::unavailable, "listen: closed");
}

Task<void> Listener::refuse_one() {
  if (reserved_ >= 0) ::close(std::exchange(reserved_, -1));
  const int accepted = ::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted >= 0) ::close(accepted);
  reserved_ = open_reserve();
  co_await clock_.sleep_for(pause_when_exhausted);
}

void Listener::close() {
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

}  // namespace outhaul::http
