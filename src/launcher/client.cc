#include "launcher/client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace outhaul::launcher {
namespace {

// More than a longest packet: the default of the system may be less.
constexpr int send_buffer_bytes = 512 * 1024;

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
  const ssize_t got = recv(socket_.number(), packet_, sizeof packet_, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return nullptr;
  const auto* header = reinterpret_cast<const PacketHeader*>(packet_);
  const bool is_whole = got >= static_cast<ssize_t>(sizeof *header) &&
                        got <= static_cast<ssize_t>(max_packet_bytes) &&
                        header->bytes == static_cast<std::size_t>(got) &&
                        header->version == protocol_version && header->slot < max_tasks;
  if (is_whole) return header;
  close();
  return nullptr;
}

}  // namespace outhaul::launcher
