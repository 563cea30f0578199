#include "launcher/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace outhaul::launcher {
namespace {

// More than a longest packet: the default of the system may be less.
constexpr int send_buffer_bytes = 512 * 1024;
// Above all that a program gets, so that giving it one never overwrites another.
constexpr int first_safe_descriptor = first_file_descriptor + static_cast<int>(max_files);

bool is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

}  // namespace

bool Client::accept_from(int listener) {
  Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open() || !is_own_user(socket.number())) return false;
  setsockopt(socket.number(), SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
  socket_ = std::move(socket);
  return true;
}

Client::Sent Client::send(const void* packet, std::size_t bytes, int descriptor) {
  iovec part{const_cast<void*>(packet), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::yes;
  if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) return Sent::later;
  close();
  return Sent::lost;
}

const PacketHeader* Client::receive() {
  if (!is_open()) return nullptr;
  files_ = HeldFiles();
  iovec part{packet_, sizeof packet_};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_files)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return nullptr;
  const auto* header = reinterpret_cast<const PacketHeader*>(packet_);
  const bool is_whole = got >= static_cast<ssize_t>(sizeof *header) &&
                        got <= static_cast<ssize_t>(max_packet_bytes) &&
                        header->bytes == static_cast<std::size_t>(got) &&
                        header->version == protocol_version && header->slot < max_tasks;
  if (got > 0) take_files(message);
  if (is_whole && (message.msg_flags & MSG_CTRUNC) == 0) return header;
  close();
  return nullptr;
}

void Client::take_files(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count && i < max_files; ++i) {
    int number = -1;
    memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
    const Descriptor low(number);
    files_.list[files_.count++] = Descriptor(fcntl(number, F_DUPFD_CLOEXEC, first_safe_descriptor));
  }
}

}  // namespace outhaul::launcher
