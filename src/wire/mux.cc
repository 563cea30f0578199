#include "wire/mux.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "wire/message.h"
#include "wire/mux_impl.h"

namespace outhaul::wire {

Mux::Mux(Side side, MuxLimits limits) : impl_(std::make_unique<Impl>(side, limits)) {}
Mux::~Mux() = default;
Result<void> Mux::receive(ByteView message) { return impl_->receive(message); }
std::optional<MuxEvent> Mux::take_event() { return impl_->take_event(); }
Result<ChannelId> Mux::open(v1::Open open) { return impl_->open(std::move(open)); }
void Mux::accept(ChannelId channel, v1::Accept accept) { impl_->accept(channel, std::move(accept)); }
void Mux::refuse(ChannelId channel, const v1::Refuse& refuse) { impl_->refuse(channel, refuse); }
void Mux::send(ChannelId channel, SharedSlice bytes) { impl_->send(channel, std::move(bytes)); }
bool Mux::has_room(ChannelId channel) { return impl_->has_room(channel); }
void Mux::finish(ChannelId channel) { impl_->finish(channel); }
void Mux::reset(ChannelId channel, ErrorCode code) { impl_->reset(channel, code); }
void Mux::discard(ChannelId channel) { impl_->discard(channel); }
std::optional<Bytes> Mux::read(ChannelId channel) { return impl_->read(channel); }
Result<void> Mux::send_control(const v1::Control& message) { return impl_->send_control(message); }
bool Mux::has_output() const { return impl_->has_output(); }
Bytes Mux::take_output(std::size_t max_bytes) { return impl_->take_output(max_bytes); }
std::uint64_t Mux::interactive_frames() const { return impl_->interactive_frames(); }
std::size_t Mux::open_channels() const { return impl_->open_channels(); }
std::uint64_t Mux::total_window_bytes() const { return impl_->total_window_bytes(); }
std::uint64_t Mux::total_queued_bytes() const { return impl_->total_queued_bytes(); }

Mux::Impl::Impl(Side side, MuxLimits limits)
    : side_(side), limits_(limits), next_id_(side == Side::node ? 1 : 2) {}

std::optional<MuxEvent> Mux::Impl::take_event() {
  if (events_.empty()) return std::nullopt;
  MuxEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

MuxChannel* Mux::Impl::find(ChannelId id) {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : &found->second;
}

Result<ChannelId> Mux::Impl::open(v1::Open open) {
  if (next_id_ > UINT32_MAX) {
    return fail(
        Error(ErrorCode::exhausted, "open channel: this session has used up its ids").with("ids", "used up"));
  }
  if (channels_.size() >= limits_.max_channels) {
    return fail(ErrorCode::exhausted, "open channel: too many channels are open");
  }
  const auto window = draw_initial_window();
  open.set_initial_credit(window);
  auto payload = open.SerializeAsString();
  if (payload.size() > max_open_bytes)
    return fail(ErrorCode::too_large, "open channel: the Open message is too large");

  const auto id = static_cast<ChannelId>(std::exchange(next_id_, next_id_ + 2));
  auto& channel = channels_[id];
  channel.is_ours = true;
  channel.is_interactive = open.interactive();
  channel.is_open_sent = false;
  channel.send_credit = min_window_bytes;
  channel.receive_credit = window;
  set_window(channel, window);
  opens_out_.push_back({id, std::move(payload)});
  return id;
}

void Mux::Impl::accept(ChannelId id, v1::Accept accept) {
  auto* const channel = find(id);
  if (channel == nullptr || channel->is_ours || channel->is_answered || channel->is_out_ended) return;
  const auto window = draw_initial_window();
  accept.set_initial_credit(window);
  const auto payload = accept.SerializeAsString();
  OUTHAUL_ASSERT(payload.size() <= max_frame_payload_bytes);
  Bytes frame;
  append_frame(frame, {.channel = id, .kind = FrameKind::accept, .payload = payload});
  queue_signal(std::move(frame));

  --pending_opens_;
  channel->is_answered = true;
  // The opener may already have used a part of the least window; the rest of this one is new to it.
  channel->receive_credit += window - min_window_bytes;
  set_window(*channel, window);
  return_credit(id, *channel);
  schedule(id, *channel);
}

void Mux::Impl::refuse(ChannelId id, const v1::Refuse& refuse) {
  auto* const channel = find(id);
  if (channel == nullptr || channel->is_ours || channel->is_answered || channel->is_out_ended) return;
  auto payload = refuse.SerializeAsString();
  // The code decides; details of another layer's making must not break the frame.
  if (payload.size() > max_frame_payload_bytes) {
    v1::Refuse bare;
    bare.set_code(refuse.code());
    payload = bare.SerializeAsString();
  }
  Bytes frame;
  append_frame(frame, {.channel = id, .kind = FrameKind::refuse, .payload = payload});
  queue_signal(std::move(frame));

  --pending_opens_;
  channel->is_out_ended = true;
  channel->is_discarding = true;
  drop_queued(*channel);
  channel->in.clear();
  forget_if_over(id, *channel);
}

void Mux::Impl::send(ChannelId id, SharedSlice bytes) {
  auto* const channel = find(id);
  if (channel == nullptr || channel->is_out_ended || channel->is_finish_wanted || channel->is_discarding)
    return;
  total_queued_ += bytes.size();
  channel->out.push(std::move(bytes));
  schedule(id, *channel);
}

bool Mux::Impl::has_room(ChannelId id) {
  auto* const channel = find(id);
  if (channel == nullptr) return true;
  if (has_room(*channel)) return true;
  channel->is_room_wanted = true;
  return false;
}

bool Mux::Impl::has_room(const MuxChannel& channel) const {
  if (channel.is_out_ended) return true;
  // One frame each, also when the others have filled the tunnel: a stalled channel never blocks another.
  if (channel.out.size() < max_frame_payload_bytes) return true;
  return channel.out.size() < limits_.max_queued_bytes && total_queued_ < limits_.max_total_queued_bytes;
}

void Mux::Impl::finish(ChannelId id) {
  auto* const channel = find(id);
  if (channel == nullptr || channel->is_out_ended) return;
  channel->is_finish_wanted = true;
  schedule(id, *channel);
}

void Mux::Impl::reset(ChannelId id, ErrorCode code) {
  auto* const channel = find(id);
  if (channel == nullptr || channel->is_discarding) return;
  if (!channel->is_ours && !channel->is_answered && !channel->is_out_ended) {
    return refuse(id, refuse_of(Error(code, "given up before it was answered")));
  }
  channel->is_discarding = true;
  channel->in.clear();
  drop_queued(*channel);
  if (!channel->is_open_sent) return reset_ours_unsent(id, *channel);
  if (!channel->is_out_ended || !channel->is_in_ended) end_with_reset(id, *channel, name_of(code));
  forget_if_over(id, *channel);
}

void Mux::Impl::discard(ChannelId id) {
  auto* const channel = find(id);
  if (channel == nullptr) return;
  channel->is_discarding = true;
  channel->in.clear();
  forget_if_over(id, *channel);
}

// An Open of which nothing has left is taken back; one that is half out must be completed first.
void Mux::Impl::reset_ours_unsent(ChannelId id, MuxChannel& channel) {
  const auto opening = std::ranges::find(opens_out_, id, &OpeningOut::id);
  OUTHAUL_ASSERT(opening != opens_out_.end());
  if (opening->sent > 0) {
    channel.is_reset_wanted = true;
    return;
  }
  opens_out_.erase(opening);
  channel.is_open_sent = channel.is_out_ended = channel.is_in_ended = true;
  forget_if_over(id, channel);
}

std::optional<Bytes> Mux::Impl::read(ChannelId id) {
  auto* const channel = find(id);
  if (channel == nullptr) return std::nullopt;
  if (channel->in.is_empty()) {
    channel->is_readable_told = false;
    return std::nullopt;
  }
  auto chunk = channel->in.take_chunk();
  if (channel->in.is_empty()) channel->is_readable_told = false;
  return_credit(id, *channel);
  forget_if_over(id, *channel);
  return chunk;
}

std::uint32_t Mux::Impl::draw_initial_window() const {
  const bool has_space = total_window_ + limits_.initial_window_bytes <= limits_.max_total_window_bytes;
  return has_space ? std::max(limits_.initial_window_bytes, min_window_bytes) : min_window_bytes;
}

void Mux::Impl::set_window(MuxChannel& channel, std::uint32_t bytes) {
  total_window_ += bytes;
  total_window_ -= channel.window;
  channel.window = bytes;
}

void Mux::Impl::grow_window(MuxChannel& channel) {
  const auto wanted = std::min(channel.window * 2, limits_.max_window_bytes);
  if (wanted <= channel.window) return;
  // A quarter is never given to growth, so that new channels still begin with a whole window.
  const auto growable = limits_.max_total_window_bytes / 4 * 3;
  if (total_window_ + (wanted - channel.window) > growable) return;
  set_window(channel, wanted);
}

void Mux::Impl::return_credit(ChannelId id, MuxChannel& channel) {
  if (channel.is_in_ended || channel.is_discarding || !channel.is_open_sent) return;
  if (!channel.is_ours && !channel.is_answered) return;
  if (channel.receive_credit == 0 && channel.in.is_empty()) grow_window(channel);
  const auto held = channel.receive_credit + static_cast<std::uint32_t>(channel.in.size());
  const auto grant = channel.window > held ? channel.window - held : 0;
  // Half a window at a time: a frame of credit for each frame of data would double the frames.
  if (grant < channel.window / 2) return;
  Bytes frame;
  append_credit(frame, id, grant);
  queue_signal(std::move(frame));
  channel.receive_credit += grant;
}

void Mux::Impl::drop_queued(MuxChannel& channel) {
  total_queued_ -= channel.out.size();
  channel.out.clear();
}

void Mux::Impl::end_with_reset(ChannelId id, MuxChannel& channel, std::string_view code) {
  Bytes frame;
  append_reset(frame, id, code);
  queue_signal(std::move(frame));
  channel.is_out_ended = true;
}

void Mux::Impl::forget_if_over(ChannelId id, MuxChannel& channel) {
  if (!channel.is_out_ended || !channel.is_in_ended || !channel.in.is_empty()) return;
  if (channel.is_scheduled) return;  // the ring still names it; take_channel() comes back here
  set_window(channel, 0);
  channels_.erase(id);
}

}  // namespace outhaul::wire
