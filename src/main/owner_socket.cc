#include "main/owner_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

#include "base/within.h"
#include "crypto/file_descriptor.h"
#include "node/owner/owner_requests.h"

namespace outhaul {
namespace {

using Protocol = asio::local::stream_protocol;

constexpr std::string_view socket_name = "owner.sock";
constexpr auto request_within = std::chrono::seconds(5);
constexpr auto answer_taken_within = std::chrono::seconds(5);
constexpr timeval answer_within{.tv_sec = 30, .tv_usec = 0};
constexpr std::size_t max_connections = 16;
constexpr std::size_t max_answer_bytes = std::size_t{16} << 20U;

// By a descriptor of the directory, for the path of a socket is short and a data directory's may be long.
sockaddr_un address_in(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = fmt::format("/proc/self/fd/{}/{}", directory, socket_name);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

crypto::FileDescriptor open_directory(const std::filesystem::path& path) {
  return crypto::FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

crypto::FileDescriptor make_socket(int more_flags) {
  return crypto::FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | more_flags, 0));
}

std::unexpected<Error> failed(const char* step) {
  return fail(ErrorCode::unavailable, std::string(step) + ": " + std::strerror(errno));
}

Result<crypto::FileDescriptor> listen_in(const std::filesystem::path& path) {
  const auto directory = open_directory(path);
  auto socket = make_socket(SOCK_NONBLOCK);
  if (!directory.is_open() || !socket.is_open()) return failed("make the owner's socket");
  // The data directory is locked: a socket that stands there is of a process that is gone.
  ::unlinkat(directory.number(), socket_name.data(), 0);
  ::fchmod(socket.number(), 0600);  // before bind(): the file is made with the socket's own mode
  const auto address = address_in(directory.number());
  if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.number(), 8) != 0) {
    return failed("bind the owner's socket");
  }
  return socket;
}

// The directory keeps others out already; this holds also where its mode was changed.
bool is_owner(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

Task<Bytes> read_request(Protocol::socket& socket) {
  Bytes request;
  boost::system::error_code fault;
  co_await asio::async_read_until(socket, asio::dynamic_buffer(request, node::max_owner_request_bytes), '\n',
                                  asio::redirect_error(asio::use_awaitable, fault));
  co_return fault ? Bytes() : request;
}

Task<void> write_answer(Protocol::socket& socket, const Bytes& answer) {
  boost::system::error_code fault;
  co_await asio::async_write(socket, asio::buffer(answer), asio::redirect_error(asio::use_awaitable, fault));
}

}  // namespace

OwnerSocket::OwnerSocket(Executor executor, AsyncClock& clock, std::filesystem::path data_directory,
                         Answer answer)
    : executor_(std::move(executor)),
      clock_(clock),
      data_directory_(std::move(data_directory)),
      answer_(std::move(answer)),
      connections_(executor_) {}

Task<Result<void>> OwnerSocket::serve() {
  auto descriptor = listen_in(data_directory_);
  if (!descriptor) co_return std::unexpected(descriptor.error());
  Protocol::acceptor acceptor(executor_, Protocol(), ::fcntl(descriptor->number(), F_DUPFD_CLOEXEC, 3));
  for (;;) {
    boost::system::error_code fault;
    auto socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, fault));
    if (fault) {
      co_await clock_.sleep_for(std::chrono::seconds(1));
    } else if (is_owner(socket.native_handle()) && connections_.size() < max_connections) {
      connections_.spawn([this, descriptor = socket.release()] { return serve_one(descriptor); });
    }
  }
}

Task<void> OwnerSocket::serve_one(int descriptor) {
  Protocol::socket socket(executor_, Protocol(), descriptor);
  const auto request = co_await within(clock_, clock_.now() + request_within, read_request(socket));
  if (!request || request->empty()) co_return;
  Bytes answer = co_await answer_(*request);
  answer.push_back('\n');
  co_await within(clock_, clock_.now() + answer_taken_within, write_answer(socket, answer));
}

Task<void> OwnerSocket::close() {
  connections_.cancel();
  co_await connections_.join();
}

Result<Bytes> ask_node(const std::filesystem::path& data_directory, ByteView request) {
  const auto directory = open_directory(data_directory);
  const auto socket = make_socket(0);
  if (!directory.is_open() || !socket.is_open()) return failed("open the data directory");
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &answer_within, sizeof answer_within);
  ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &answer_within, sizeof answer_within);
  const auto address = address_in(directory.number());
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED)
      return fail(ErrorCode::not_found, "no node runs in this directory");
    return failed("connect to the node");
  }
  const auto line = Bytes(request) + "\n";
  if (::send(socket.number(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return failed("ask the node");
  }
  Bytes answer;
  char piece[4096];
  while (!answer.ends_with('\n') && answer.size() < max_answer_bytes) {
    const auto count = ::recv(socket.number(), piece, sizeof piece, 0);
    if (count <= 0) return fail(ErrorCode::unavailable, "the node does not answer");
    answer.append(piece, static_cast<std::size_t>(count));
  }
  return answer;
}

}  // namespace outhaul
