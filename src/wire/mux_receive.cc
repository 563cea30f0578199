#include <utility>

#include "wire/message.h"
#include "wire/mux_impl.h"

namespace outhaul::wire {
namespace {

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

// Far above any window, far below overflow.
constexpr std::uint32_t max_credit_bytes = 1U << 30U;

}  // namespace

bool Mux::Impl::is_peer_id(ChannelId id) const { return (id % 2 == 1) == (side_ == Side::hub); }

bool Mux::Impl::was_open(ChannelId id) const {
  if (opening_in_ && opening_in_->id == id) return false;
  return is_peer_id(id) ? id <= last_peer_id_ : id < next_id_;
}

Result<void> Mux::Impl::receive(ByteView message) {
  if (message.size() > max_message_bytes) return violation("message: over its size limit");
  FrameReader frames(message);
  for (;;) {
    OUTHAUL_TRY(frame, frames.next());
    if (!frame) break;
    OUTHAUL_CHECK(receive_frame(*frame));
  }
  // Answers pile up only when the peer provokes them without reading.
  if (signals_out_bytes_ > limits_.max_queued_control_bytes)
    return violation("mux: the peer does not read its answers");
  return {};
}

Result<void> Mux::Impl::receive_frame(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::data: return receive_data(frame);
    case FrameKind::credit: return receive_credit(frame);
    case FrameKind::control: return receive_control(frame);
    case FrameKind::open: return receive_open(frame);
    case FrameKind::accept: return receive_accept(frame);
    case FrameKind::refuse: return receive_refuse(frame);
    case FrameKind::finish: return receive_finish(frame);
    case FrameKind::reset: return receive_reset(frame);
  }
  return violation("frame: unknown kind");
}

Result<void> Mux::Impl::receive_control(const Frame& frame) {
  if (control_in_.size() + frame.payload.size() > max_control_bytes)
    return violation("control message: over its size limit");
  control_in_.append(frame.payload);
  if (frame.more_follows) return {};
  OUTHAUL_TRY(message, parse_control(std::exchange(control_in_, {})));
  events_.emplace_back(ControlArrived{std::move(message)});
  return {};
}

Result<void> Mux::Impl::receive_open(const Frame& frame) {
  if (!opening_in_) {
    if (!is_peer_id(frame.channel)) return violation("mux: opened with an id of the other side");
    if (frame.channel <= last_peer_id_) return violation("mux: opened an id twice or out of order");
    last_peer_id_ = frame.channel;
    opening_in_.emplace(frame.channel, Bytes());
  }
  if (opening_in_->id != frame.channel) return violation("mux: an Open began inside another");
  auto& payload = opening_in_->payload;
  if (payload.size() + frame.payload.size() > max_open_bytes) return violation("open: over its size limit");
  payload.append(frame.payload);
  if (frame.more_follows) return {};
  OUTHAUL_TRY(open, parse_open(payload));
  opening_in_.reset();
  return admit_opened(frame.channel, std::move(open));
}

Result<void> Mux::Impl::admit_opened(ChannelId id, v1::Open open) {
  const bool is_full =
      channels_.size() >= limits_.max_channels || pending_opens_ >= limits_.max_pending_opens;
  // Refused channels count until the opener has ended its direction; one that never does is no peer.
  if (channels_.size() >= 2 * limits_.max_channels)
    return violation("mux: channels are opened and never ended");
  if (open.initial_credit() > max_credit_bytes) return violation("open: initial credit");
  auto& channel = channels_[id];
  channel.is_interactive = open.interactive();
  channel.send_credit = open.initial_credit();
  channel.receive_credit = min_window_bytes;
  set_window(channel, min_window_bytes);
  ++pending_opens_;
  if (is_full) {
    refuse(id, refuse_of(Error(ErrorCode::exhausted, "too many channels are open")));
  } else {
    events_.emplace_back(ChannelOpened{id, std::move(open)});
  }
  return {};
}

Result<void> Mux::Impl::receive_accept(const Frame& frame) {
  auto* const channel = find(frame.channel);
  if (channel == nullptr || !channel->is_ours || channel->is_answered || channel->is_in_ended ||
      !channel->is_open_sent) {
    return violation("mux: accepted what was not asked");
  }
  OUTHAUL_TRY(accept, parse_accept(frame.payload));
  if (accept.initial_credit() < min_window_bytes || accept.initial_credit() > max_credit_bytes) {
    return violation("accept: initial credit");
  }
  channel->is_answered = true;
  channel->send_credit += accept.initial_credit() - min_window_bytes;
  if (!channel->is_discarding) events_.emplace_back(ChannelAccepted{frame.channel, std::move(accept)});
  schedule(frame.channel, *channel);
  return {};
}

Result<void> Mux::Impl::receive_refuse(const Frame& frame) {
  auto* const channel = find(frame.channel);
  if (channel == nullptr || !channel->is_ours || channel->is_answered || channel->is_in_ended ||
      !channel->is_open_sent) {
    return violation("mux: refused what was not asked");
  }
  OUTHAUL_TRY(refuse, parse_refuse(frame.payload));
  channel->is_in_ended = true;
  drop_queued(*channel);
  if (!channel->is_out_ended) end_with_reset(frame.channel, *channel, name_of(ErrorCode::channel_reset));
  if (!channel->is_discarding) events_.emplace_back(ChannelRefused{frame.channel, std::move(refuse)});
  channel->is_discarding = true;
  forget_if_over(frame.channel, *channel);
  return {};
}

Result<MuxChannel*> Mux::Impl::find_sendable_by_peer(ChannelId id) {
  auto* const channel = find(id);
  if (channel == nullptr) return violation("mux: bytes for a channel that is not open");
  if (channel->is_in_ended) return violation("mux: bytes after the end of their direction");
  if (channel->is_ours && !channel->is_answered) return violation("mux: bytes before the answer");
  return channel;
}

Result<void> Mux::Impl::receive_data(const Frame& frame) {
  OUTHAUL_TRY(channel, find_sendable_by_peer(frame.channel));
  if (frame.payload.size() > channel->receive_credit) return violation("mux: more bytes than credit");
  channel->receive_credit -= static_cast<std::uint32_t>(frame.payload.size());
  if (channel->is_interactive) ++interactive_frames_;
  if (channel->is_discarding) return {};
  channel->in.append(frame.payload);
  if (!std::exchange(channel->is_readable_told, true)) events_.emplace_back(ChannelReadable{frame.channel});
  return {};
}

Result<void> Mux::Impl::receive_credit(const Frame& frame) {
  auto* const channel = find(frame.channel);
  if (channel == nullptr) {
    if (was_open(frame.channel)) return {};
    return violation("mux: credit for a channel that is not open");
  }
  if (channel->is_ours && !channel->is_answered) return violation("mux: credit before the answer");
  const auto credit = credit_of(frame);
  if (credit > max_credit_bytes || channel->send_credit + credit > max_credit_bytes)
    return violation("mux: too much credit");
  channel->send_credit += credit;
  schedule(frame.channel, *channel);
  return {};
}

Result<void> Mux::Impl::receive_finish(const Frame& frame) {
  OUTHAUL_TRY(channel, find_sendable_by_peer(frame.channel));
  channel->is_in_ended = true;
  if (!channel->is_discarding) events_.emplace_back(ChannelFinished{frame.channel});
  forget_if_over(frame.channel, *channel);
  return {};
}

Result<void> Mux::Impl::receive_reset(const Frame& frame) {
  auto* const channel = find(frame.channel);
  if (channel == nullptr || !channel->is_open_sent) {
    if (channel == nullptr && was_open(frame.channel)) return {};
    return violation("mux: reset of a channel that is not open");
  }
  if (!channel->is_ours && !channel->is_answered && !channel->is_out_ended) --pending_opens_;
  drop_queued(*channel);
  if (!channel->is_out_ended) end_with_reset(frame.channel, *channel, name_of(ErrorCode::channel_reset));
  // After the peer's Finish all that it sent is whole and stays readable; before, it is not.
  if (!channel->is_in_ended) channel->in.clear();
  channel->is_in_ended = true;
  if (!channel->is_discarding) {
    const auto code = find_error_code(reset_code_of(frame)).value_or(ErrorCode::channel_reset);
    events_.emplace_back(ChannelReset{frame.channel, code});
  }
  forget_if_over(frame.channel, *channel);
  return {};
}

}  // namespace outhaul::wire
