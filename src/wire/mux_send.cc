#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "wire/message.h"
#include "wire/mux_impl.h"

namespace outhaul::wire {
namespace {

// What interactive channels leave to the others in each message, so that these never starve.
constexpr std::size_t others_share_bytes = frame_header_bytes + max_frame_payload_bytes;

}  // namespace

Result<void> Mux::Impl::send_control(const v1::Control& message) {
  const auto payload = message.SerializeAsString();
  if (payload.size() > max_control_bytes)
    return fail(ErrorCode::too_large, "control message: over its size limit");
  if (control_out_bytes_ + payload.size() > limits_.max_queued_control_bytes) {
    return fail(ErrorCode::exhausted, "control message: too many wait to be sent");
  }
  ByteView rest = payload;
  do {
    const auto part = rest.substr(0, max_frame_payload_bytes);
    rest.remove_prefix(part.size());
    Bytes frame;
    frame.reserve(frame_header_bytes + part.size());
    append_frame(frame, {.kind = FrameKind::control, .more_follows = !rest.empty(), .payload = part});
    control_out_bytes_ += frame.size();
    control_out_.push_back(std::move(frame));
  } while (!rest.empty());
  return {};
}

void Mux::Impl::queue_signal(Bytes frame) {
  signals_out_bytes_ += frame.size();
  signals_out_.push_back(std::move(frame));
}

bool Mux::Impl::is_sendable(const MuxChannel& channel) const {
  if (channel.is_out_ended || !channel.is_open_sent) return false;
  if (!channel.is_ours && !channel.is_answered) return false;
  return channel.out.is_empty() ? channel.is_finish_wanted : channel.send_credit > 0;
}

void Mux::Impl::schedule(ChannelId id, MuxChannel& channel) {
  if (channel.is_scheduled || !is_sendable(channel)) return;
  channel.is_scheduled = true;
  (channel.is_interactive ? interactive_ : others_).push_back(id);
}

bool Mux::Impl::has_output() const {
  return !control_out_.empty() || !signals_out_.empty() || !opens_out_.empty() || !interactive_.empty() ||
         !others_.empty();
}

Bytes Mux::Impl::take_output(std::size_t max_bytes) {
  OUTHAUL_ASSERT(max_bytes >= 2 * others_share_bytes);
  Bytes message;
  const auto waiting = control_out_bytes_ + signals_out_bytes_ + total_queued_ + frame_header_bytes;
  message.reserve(std::min<std::size_t>(max_bytes, waiting));
  take_queue(control_out_, control_out_bytes_, message, max_bytes);
  take_queue(signals_out_, signals_out_bytes_, message, max_bytes);
  take_whole_opens(message, max_bytes);
  const bool others_wait = !others_.empty() || !opens_out_.empty();
  take_ring(interactive_, message, others_wait ? max_bytes - others_share_bytes : max_bytes);
  take_open_part(message, max_bytes);
  take_ring(others_, message, max_bytes);
  return message;
}

void Mux::Impl::take_queue(Queue<Bytes>& queue, std::size_t& queued, Bytes& message, std::size_t max_bytes) {
  while (!queue.empty() && message.size() + queue.front().size() <= max_bytes) {
    queued -= queue.front().size();
    message.append(queue.front());
    queue.pop_front();
  }
}

// An Open that needs one frame is as urgent as an answer. A larger one leaves a part a message, so that
// 256 KiB of somebody's arguments delay nobody.
void Mux::Impl::take_whole_opens(Bytes& message, std::size_t max_bytes) {
  while (!opens_out_.empty() && opens_out_.front().payload.size() <= max_frame_payload_bytes) {
    if (!take_open_part(message, max_bytes)) return;
  }
}

bool Mux::Impl::take_open_part(Bytes& message, std::size_t max_bytes) {
  if (opens_out_.empty()) return false;
  auto& opening = opens_out_.front();
  const auto part = ByteView(opening.payload).substr(opening.sent, max_frame_payload_bytes);
  if (message.size() + frame_header_bytes + part.size() > max_bytes) return false;
  opening.sent += part.size();
  const bool is_last = opening.sent == opening.payload.size();
  append_frame(message,
               {.channel = opening.id, .kind = FrameKind::open, .more_follows = !is_last, .payload = part});
  if (is_last) {
    const auto id = opening.id;
    opens_out_.pop_front();
    finish_open_sent(id);
  }
  return true;
}

void Mux::Impl::finish_open_sent(ChannelId id) {
  auto* const channel = find(id);
  OUTHAUL_ASSERT(channel != nullptr);
  channel->is_open_sent = true;
  if (channel->is_reset_wanted) end_with_reset(id, *channel, name_of(ErrorCode::cancelled));
  schedule(id, *channel);
}

void Mux::Impl::take_ring(Queue<ChannelId>& ring, Bytes& message, std::size_t max_bytes) {
  // Room for a header and one byte; each turn takes one frame at most and gives the turn away.
  while (!ring.empty() && message.size() + frame_header_bytes < max_bytes) {
    const auto id = ring.front();
    ring.pop_front();
    auto* const channel = find(id);
    OUTHAUL_ASSERT(channel != nullptr);
    channel->is_scheduled = false;
    take_channel(id, *channel, message, max_bytes);
  }
}

void Mux::Impl::take_channel(ChannelId id, MuxChannel& channel, Bytes& message, std::size_t max_bytes) {
  // It may have been reset while it waited for its turn.
  if (!is_sendable(channel)) return forget_if_over(id, channel);
  const auto space = max_bytes - message.size() - frame_header_bytes;
  const auto count =
      std::min({channel.out.size(), std::size_t{channel.send_credit}, max_frame_payload_bytes, space});
  if (count > 0) {
    append_frame_header(message, id, FrameKind::data, count);
    channel.out.move_to(message, count);
    channel.send_credit -= static_cast<std::uint32_t>(count);
    total_queued_ -= count;
    if (channel.is_interactive) ++interactive_frames_;
  } else {
    append_frame_header(message, id, FrameKind::finish, 0);
    channel.is_out_ended = true;
  }
  if (channel.is_room_wanted && has_room(channel)) {
    channel.is_room_wanted = false;
    events_.emplace_back(ChannelWritable{id});
  }
  schedule(id, channel);
  forget_if_over(id, channel);
}

}  // namespace outhaul::wire
