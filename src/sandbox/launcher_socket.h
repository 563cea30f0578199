// LauncherSocket: whole packets to and from the launcher. Sending never waits; receiving does.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/event.h"
#include "base/task.h"
#include "launcher/protocol.h"
#include "sandbox/process_launcher.h"

namespace outhaul::sandbox {

// A packet and the descriptor that came with it (-1: none), which the taker owns.
struct LauncherPacket {
  Bytes bytes;
  int descriptor = -1;
  const launcher::PacketHeader& header() const {
    return *reinterpret_cast<const launcher::PacketHeader*>(bytes.data());
  }
};

class LauncherSocket {
 public:
  explicit LauncherSocket(const Executor& executor);

  // Takes a connected descriptor; what was queued for an earlier one is dropped.
  void open(int descriptor);
  void close();
  bool is_open() const { return socket_.has_value(); }

  // Queued behind what the kernel does not take now. Without a connection nothing happens.
  void send(Bytes packet, std::vector<SharedDescriptor> files = {});
  // The next packet; empty when the connection is lost or carries what is no packet.
  Task<std::optional<LauncherPacket>> receive();
  // Sends what is queued, for ever; run beside receive().
  Task<void> flush();

 private:
  struct Outgoing {
    Bytes bytes;
    std::vector<SharedDescriptor> files;
  };
  bool try_send(const Outgoing& packet);
  // Empty optional: nothing now.
  std::optional<LauncherPacket> try_receive();

  Executor executor_;
  std::optional<asio::posix::stream_descriptor> socket_;
  std::deque<Outgoing> queue_;
  Event queued_;
  bool is_lost_ = false;
};

}  // namespace outhaul::sandbox
