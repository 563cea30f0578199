// The state behind wire/mux.h. mux.cc has the local calls, mux_receive.cc what the peer sends,
// mux_send.cc the order in which frames leave.
#pragma once

#include <optional>
#include <unordered_map>

#include "wire/byte_queue.h"
#include "wire/mux.h"
#include "wire/queue.h"

namespace outhaul::wire {

// One channel until both directions have ended on the wire and nothing is left to read.
struct MuxChannel {
  bool is_ours = false;  // we opened it
  bool is_interactive = false;
  bool is_answered = false;      // Accept was sent or has arrived
  bool is_open_sent = true;      // false while our Open waits or is being sent in parts
  bool is_discarding = false;    // its owner gave it up: what arrives is counted and dropped
  bool is_reset_wanted = false;  // to be reset as soon as its Open is out

  // Our direction.
  ByteQueue out;
  std::uint32_t send_credit = 0;
  bool is_finish_wanted = false;
  bool is_out_ended = false;    // Finish, Refuse or Reset is queued or gone
  bool is_scheduled = false;    // stands in one of the rings
  bool is_room_wanted = false;  // has_room() was false: say when it changes

  // The peer's direction. credit + in.size() <= window.
  ByteQueue in;
  std::uint32_t receive_credit = 0;  // the peer may still send so much
  std::uint32_t window = 0;
  bool is_in_ended = false;
  bool is_readable_told = false;
};

class Mux::Impl {
 public:
  Impl(Side side, MuxLimits limits);

  // mux.cc
  Result<ChannelId> open(v1::Open open);
  void accept(ChannelId id, v1::Accept accept);
  void refuse(ChannelId id, const v1::Refuse& refuse);
  void send(ChannelId id, SharedSlice bytes);
  bool has_room(ChannelId id);
  void finish(ChannelId id);
  void reset(ChannelId id, ErrorCode code);
  void discard(ChannelId id);
  std::optional<Bytes> read(ChannelId id);
  std::optional<MuxEvent> take_event();

  // mux_receive.cc
  Result<void> receive(ByteView message);

  // mux_send.cc
  Result<void> send_control(const v1::Control& message);
  bool has_output() const;
  Bytes take_output(std::size_t max_bytes);

  std::uint64_t interactive_frames() const { return interactive_frames_; }
  std::size_t open_channels() const { return channels_.size(); }
  std::uint64_t total_window_bytes() const { return total_window_; }
  std::uint64_t total_queued_bytes() const { return total_queued_; }

 private:
  // An Open on its way out: its parts leave in order, and never between parts of another.
  struct OpeningOut {
    ChannelId id;
    Bytes payload;
    std::size_t sent = 0;
  };
  struct OpeningIn {
    ChannelId id;
    Bytes payload;
  };

  MuxChannel* find(ChannelId id);
  bool is_peer_id(ChannelId id) const;
  // True for an id that was open once: a late Credit or Reset for it is no fault.
  bool was_open(ChannelId id) const;

  Result<void> receive_frame(const Frame& frame);
  Result<void> receive_control(const Frame& frame);
  Result<void> receive_open(const Frame& frame);
  Result<void> receive_accept(const Frame& frame);
  Result<void> receive_refuse(const Frame& frame);
  Result<void> receive_data(const Frame& frame);
  Result<void> receive_credit(const Frame& frame);
  Result<void> receive_finish(const Frame& frame);
  Result<void> receive_reset(const Frame& frame);
  Result<void> admit_opened(ChannelId id, v1::Open open);
  // The channel, when the peer may send in its direction.
  Result<MuxChannel*> find_sendable_by_peer(ChannelId id);

  std::uint32_t draw_initial_window() const;
  void set_window(MuxChannel& channel, std::uint32_t bytes);
  void grow_window(MuxChannel& channel);
  void return_credit(ChannelId id, MuxChannel& channel);
  void drop_queued(MuxChannel& channel);
  void end_with_reset(ChannelId id, MuxChannel& channel, std::string_view code);
  void reset_ours_unsent(ChannelId id, MuxChannel& channel);
  void forget_if_over(ChannelId id, MuxChannel& channel);

  bool is_sendable(const MuxChannel& channel) const;
  void schedule(ChannelId id, MuxChannel& channel);
  bool has_room(const MuxChannel& channel) const;
  void queue_signal(Bytes frame);
  void take_queue(Queue<Bytes>& queue, std::size_t& queued, Bytes& message, std::size_t max_bytes);
  void take_whole_opens(Bytes& message, std::size_t max_bytes);
  bool take_open_part(Bytes& message, std::size_t max_bytes);
  void finish_open_sent(ChannelId id);
  void take_ring(Queue<ChannelId>& ring, Bytes& message, std::size_t max_bytes);
  void take_channel(ChannelId id, MuxChannel& channel, Bytes& message, std::size_t max_bytes);

  const Side side_;
  const MuxLimits limits_;
  // Looked up by id only: no order of it is ever visible.
  std::unordered_map<ChannelId, MuxChannel> channels_;
  std::uint64_t next_id_;  // 64 bits, so that running out is a comparison
  ChannelId last_peer_id_ = 0;
  std::size_t pending_opens_ = 0;
  std::uint64_t total_window_ = 0;
  std::uint64_t total_queued_ = 0;
  std::uint64_t interactive_frames_ = 0;

  Queue<MuxEvent> events_;
  std::optional<OpeningIn> opening_in_;
  Bytes control_in_;

  // Encoded frames, ready to be copied out.
  Queue<Bytes> control_out_;
  std::size_t control_out_bytes_ = 0;
  Queue<Bytes> signals_out_;  // accept, refuse, credit, reset
  std::size_t signals_out_bytes_ = 0;
  Queue<OpeningOut> opens_out_;
  Queue<ChannelId> interactive_;
  Queue<ChannelId> others_;
};

}  // namespace outhaul::wire
