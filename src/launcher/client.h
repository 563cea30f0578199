// Client: the one connection of the node to its launcher. Sending never waits: what the socket does not
// take now is a task that stays dirty.
#pragma once

#include <sys/socket.h>

#include <cstddef>

#include "launcher/held_files.h"

namespace outhaul::launcher {

class Client {
 public:
  enum class Sent { yes, later, lost };

  // Takes the next connection of `listener` in place of the present one. False when there is none or its
  // user is not ours; the present one then stays.
  bool accept_from(int listener);
  bool is_open() const { return socket_.is_open(); }
  int socket() const { return socket_.number(); }
  void close() { socket_.reset(); }

  // `descriptor` travels with the packet; -1: none.
  Sent send(const void* packet, std::size_t bytes, int descriptor);
  // The next packet, valid until the next call. Null when there is none now, and when the connection is
  // lost or broke the protocol: then it is closed.
  const PacketHeader* receive();
  // What came with that packet, valid as long; none of it stands where a program gets its own.
  const HeldFiles& files() const { return files_; }

 private:
  void take_files(msghdr& message);

  Descriptor socket_;
  HeldFiles files_;
  alignas(8) char packet_[max_packet_bytes + 1];  // one more: a packet that fills it is too large
};

}  // namespace outhaul::launcher
