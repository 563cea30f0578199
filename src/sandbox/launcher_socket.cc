#include "sandbox/launcher_socket.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

namespace outhaul::sandbox {
namespace {

// Snapshots are the longest packets that the launcher sends.
constexpr std::size_t max_answer_bytes = 1024;

int take_descriptor(msghdr& message) {
  int descriptor = -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  }
  return descriptor;
}

// `control` has room for max_files.
void attach_descriptors(msghdr& message, char* control, const std::vector<SharedDescriptor>& files) {
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * files.size());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const int number = files[i]->number();
    std::memcpy(CMSG_DATA(header) + i * sizeof number, &number, sizeof number);
  }
}

}  // namespace

LauncherSocket::LauncherSocket(const Executor& executor) : executor_(executor), queued_(executor) {}

void LauncherSocket::open(int descriptor) {
  close();
  is_lost_ = false;
  socket_.emplace(executor_, descriptor);
}

void LauncherSocket::close() {
  socket_.reset();
  queue_.clear();
  queued_.reset();
}

void LauncherSocket::send(Bytes bytes, std::vector<SharedDescriptor> files) {
  if (!socket_) return;
  Outgoing packet{std::move(bytes), std::move(files)};
  if (queue_.empty() && try_send(packet)) return;
  queue_.push_back(std::move(packet));
  queued_.set();
}

// True also when the connection is lost: the receiver finds out, and nobody waits for the packet.
bool LauncherSocket::try_send(const Outgoing& packet) {
  iovec part{const_cast<char*>(packet.bytes.data()), packet.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * launcher::max_files)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!packet.files.empty()) attach_descriptors(message, control, packet.files);
  const auto sent = ::sendmsg(socket_->native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

Task<void> LauncherSocket::flush() {
  for (;;) {
    co_await queued_.wait();
    while (socket_ && !queue_.empty() && try_send(queue_.front())) queue_.pop_front();
    if (!socket_ || queue_.empty()) {
      queued_.reset();
      continue;
    }
    const auto token = asio::as_tuple(asio::use_awaitable);
    co_await socket_->async_wait(asio::posix::stream_descriptor::wait_write, token);
  }
}

Task<std::optional<LauncherPacket>> LauncherSocket::receive() {
  while (socket_) {
    auto packet = try_receive();
    if (packet || is_lost_) co_return packet;
    const auto token = asio::as_tuple(asio::use_awaitable);
    const auto [error] = co_await socket_->async_wait(asio::posix::stream_descriptor::wait_read, token);
    if (error) break;
  }
  co_return std::nullopt;
}

std::optional<LauncherPacket> LauncherSocket::try_receive() {
  LauncherPacket packet;
  packet.bytes.resize(max_answer_bytes);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto got = ::recvmsg(socket_->native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  packet.descriptor = take_descriptor(message);
  is_lost_ = got < static_cast<ssize_t>(sizeof(launcher::PacketHeader)) ||
             packet.header().bytes != static_cast<std::size_t>(got) ||
             packet.header().version != launcher::protocol_version ||
             packet.header().slot >= launcher::max_tasks;
  if (is_lost_) return std::nullopt;
  packet.bytes.resize(static_cast<std::size_t>(got));
  return packet;
}

}  // namespace outhaul::sandbox
