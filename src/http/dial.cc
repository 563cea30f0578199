#include "http/dial.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/within.h"

namespace outhaul::http {
namespace {

using Endpoint = asio::ip::tcp::endpoint;
using Endpoints = std::vector<Endpoint>;

std::string reason_text(int reason) { return ::strerrordesc_np(reason); }

// The resolver has a thread of its own; an address needs neither.
Task<Result<Endpoints>> resolve(std::string host, std::uint16_t port) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) co_return Endpoints{Endpoint(address, port)};
  asio::ip::tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto service = std::to_string(port);
  const auto found =
      co_await resolver.async_resolve(host, service, asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) co_return fail(ErrorCode::unavailable, "the name does not resolve: " + error.message());
  Endpoints endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  co_return endpoints;
}

// Empties `descriptor` into the caller's hand when the connection stands.
Task<Result<int>> connect_to(Endpoint endpoint) {
  const Executor executor = co_await asio::this_coro::executor;
  const int native = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (native < 0) co_return fail(ErrorCode::unavailable, reason_text(errno));
  asio::posix::stream_descriptor descriptor(executor, native);
  if (::connect(native, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    if (errno != EINPROGRESS) co_return fail(ErrorCode::unavailable, reason_text(errno));
    co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_write, asio::use_awaitable);
  }
  int reason = 0;
  socklen_t size = sizeof reason;
  ::getsockopt(native, SOL_SOCKET, SO_ERROR, &reason, &size);
  if (reason != 0) co_return fail(ErrorCode::unavailable, reason_text(reason));
  co_return descriptor.release();
}

// Each address gets its share of the time, so that a silent first one does not use up all of it.
TimePoint share_of(TimePoint now, TimePoint deadline, std::size_t addresses_left) {
  return now + (deadline - now) / static_cast<Duration::rep>(addresses_left);
}

}  // namespace

Task<Result<int>> dial(AsyncClock& clock, TimePoint deadline, std::string host, std::uint16_t port) {
  const std::string step = "connect to " + host + " port " + std::to_string(port);
  auto resolved = co_await within(clock, deadline, resolve(host, port));
  if (!resolved) co_return fail(ErrorCode::deadline_exceeded, step + ": the name did not resolve in time");
  if (!*resolved) co_return fail(std::move(*resolved).error().during(step));
  const Endpoints& endpoints = **resolved;
  Error last(ErrorCode::unavailable, "the name has no address");
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const TimePoint until = share_of(clock.now(), deadline, endpoints.size() - i);
    auto connected = co_await within(clock, until, connect_to(endpoints[i]));
    if (connected && *connected) co_return **connected;
    last =
        connected ? std::move(*connected).error() : Error(ErrorCode::deadline_exceeded, "no answer in time");
  }
  co_return fail(std::move(last).during(step));
}

}  // namespace outhaul::http
