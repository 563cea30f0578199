// Mux: many channels in one ordered message stream, each with its own credit. Pure: messages and local
// calls go in; events and the next message come out. Cost per frame does not depend on how many
// channels there are.
//
// A channel is two byte streams; boundaries of send() are not kept. Each direction ends once, by Finish,
// Refuse or Reset, and a Reset ends both: who receives one answers with its own unless its direction had
// ended. So both sides know when an id is over; later Credit and Reset for it are late and ignored,
// anything else is a violation.
//
// Receive windows start at initial_window_bytes and double each time that the sender has used all of its
// credit while nothing waited to be read (the window was the limit, not the reader), up to
// max_window_bytes; all windows of a tunnel together stay below max_total_window_bytes plus
// min_window_bytes a channel.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shared_slice.h"
#include "outhaul/v1/session.pb.h"
#include "wire/frame.h"
#include "wire/target.h"

namespace outhaul::wire {

using ChannelId = std::uint32_t;

struct MuxLimits {
  std::size_t max_channels = 4096;       // opened by either side and not over
  std::size_t max_pending_opens = 4096;  // opened by the peer, not yet answered here
  std::uint32_t initial_window_bytes = 64 * 1024;
  std::uint32_t max_window_bytes = 4 * 1024 * 1024;
  std::uint64_t max_total_window_bytes = 16 * 1024 * 1024;
  std::size_t max_queued_bytes = 256 * 1024;              // waiting to be sent, a channel
  std::size_t max_total_queued_bytes = 16 * 1024 * 1024;  // past it, a channel may still queue one frame
  std::size_t max_queued_control_bytes = 4 * 1024 * 1024;
};
// What an opener may send before Accept, and the least window of any channel.
inline constexpr std::uint32_t min_window_bytes = 16 * 1024;

// What happened on the wire, in order.
struct ControlArrived {
  v1::Control message;
};
struct ChannelOpened {  // by the peer; answer with accept() or refuse()
  ChannelId channel;
  v1::Open open;
};
struct ChannelAccepted {
  ChannelId channel;
  v1::Accept accept;
};
struct ChannelRefused {  // the channel is over
  ChannelId channel;
  v1::Refuse refuse;
};
struct ChannelReadable {  // read() has something; said once until read() has given all
  ChannelId channel;
};
struct ChannelWritable {  // has_room() turned true after it had been false
  ChannelId channel;
};
struct ChannelFinished {  // the peer sends no more; what came before can still be read
  ChannelId channel;
};
struct ChannelReset {  // the channel is over; what was not read is gone unless ChannelFinished came first
  ChannelId channel;
  ErrorCode code;
};
using MuxEvent = std::variant<ControlArrived, ChannelOpened, ChannelAccepted, ChannelRefused, ChannelReadable,
                              ChannelWritable, ChannelFinished, ChannelReset>;

class Mux {
 public:
  explicit Mux(Side side, MuxLimits limits = {});
  ~Mux();
  Mux(const Mux&) = delete;
  Mux& operator=(const Mux&) = delete;

  // Takes one message from the peer. Fails with `protocol_violation` when it overran its credit, used an
  // id that is not open or broke another rule; the session is then over. Events of the frames before the
  // fault stand.
  Result<void> receive(ByteView message);
  std::optional<MuxEvent> take_event();

  // Fails with `exhausted` when max_channels are open, or when this session has used up its ids (detail
  // "ids"). `open.initial_credit` is set here. Data may be sent at once, within min_window_bytes.
  Result<ChannelId> open(v1::Open open);
  // Answers of a ChannelOpened. Calls for a channel that is over are ignored, here and below: the peer may
  // have ended it while the answer was on its way.
  void accept(ChannelId channel, v1::Accept accept);
  void refuse(ChannelId channel, const v1::Refuse& refuse);

  // Queues `bytes` whatever has_room() says; the caller waits for room. Nothing is copied. Ignored after
  // finish().
  void send(ChannelId channel, Bytes bytes) { send(channel, SharedSlice::take(std::move(bytes))); }
  void send(ChannelId channel, SharedSlice bytes);
  bool has_room(ChannelId channel);
  // After what is queued, this direction ends.
  void finish(ChannelId channel);
  // Drops what is queued and what is unread. An opened channel that was not answered is refused.
  void reset(ChannelId channel, ErrorCode code);
  // Nobody reads any more: what the peer still sends is dropped. What is queued here still leaves, up to
  // finish(), which the caller has called.
  void discard(ChannelId channel);
  // The next unread bytes, at most 64 KiB; empty when there are none now. Returns credit to the peer.
  std::optional<Bytes> read(ChannelId channel);

  // Fails with `exhausted` when max_queued_control_bytes wait, `too_large` over max_control_bytes.
  Result<void> send_control(const v1::Control& message);

  bool has_output() const;
  // The next message, at most `max_bytes` (>= two full frames): control first, then answers and credit, then
  // interactive channels, then the others, each kind round-robin by frame. Others get a quarter of the
  // message while interactive ones fill it. Empty when nothing can be sent now.
  Bytes take_output(std::size_t max_bytes = max_message_bytes);

  // Data frames of interactive channels so far, in both directions: somebody types while this changes.
  std::uint64_t interactive_frames() const;

  std::size_t open_channels() const;
  // Sum over channels, for tests and metrics.
  std::uint64_t total_window_bytes() const;
  std::uint64_t total_queued_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace outhaul::wire
