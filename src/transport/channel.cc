#include "transport/channel.h"

#include <utility>

#include "base/assert.h"
#include "transport/tunnel_core.h"
#include "wire/message.h"

namespace outhaul::transport {
namespace {

// Lets go of the owner's end: what was not finished is reset, what was finished still leaves.
void drop(const std::shared_ptr<ChannelState>& state) {
  if (!state || state->core == nullptr) return;
  auto& core = *state->core;
  if (state->is_finished) {
    core.mux().discard(state->id);
  } else {
    core.mux().reset(state->id, ErrorCode::cancelled);
  }
  core.release(*state);
}

// The tunnel may end while its owner waits, so every round looks at `core` afresh.
Error failure_of(const ChannelState& state) {
  if (state.failure) return *state.failure;
  return Error(ErrorCode::session_lost, "the session ended");
}

bool is_over(const ChannelState& state) { return state.failure.has_value() || state.core == nullptr; }

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this != &other) {
    drop(state_);
    state_ = std::move(other.state_);
  }
  return *this;
}

Channel::~Channel() { drop(state_); }

bool Channel::is_live() const { return state_ && !is_over(*state_); }

Task<Result<v1::Accept>> Channel::accepted() {
  const auto state = state_;
  for (;;) {
    if (state->accept) co_return *state->accept;
    if (is_over(*state)) co_return fail(failure_of(*state));
    co_await state->changed.wait_pulse();
  }
}

Task<Result<void>> Channel::send(Bytes bytes) {
  std::vector<SharedSlice> slices;
  slices.push_back(SharedSlice::take(std::move(bytes)));
  return send(std::move(slices));
}

Task<Result<void>> Channel::send(std::vector<SharedSlice> slices) {
  const auto state = state_;
  OUTHAUL_ASSERT(!state->is_finished);
  while (!is_over(*state) && !state->core->mux().has_room(state->id)) co_await state->changed.wait_pulse();
  if (is_over(*state)) co_return fail(failure_of(*state));
  for (auto& slice : slices) state->core->mux().send(state->id, std::move(slice));
  state->core->wake_writer();
  co_return Result<void>();
}

Result<bool> Channel::try_send(Bytes& bytes) {
  OUTHAUL_ASSERT(!state_->is_finished);
  if (is_over(*state_)) return fail(failure_of(*state_));
  if (!state_->core->mux().has_room(state_->id)) return false;
  state_->core->mux().send(state_->id, std::exchange(bytes, {}));
  state_->core->wake_writer();
  return true;
}

std::optional<Bytes> Channel::try_receive() {
  if (state_->core == nullptr) return std::nullopt;
  auto& core = *state_->core;
  auto chunk = core.mux().read(state_->id);
  // Reading may have queued credit.
  if (chunk && core.mux().has_output()) core.wake_writer();
  if (!chunk && state_->is_peer_finished) state_->is_drained = true;
  return chunk;
}

Task<Result<std::optional<Bytes>>> Channel::receive() {
  const auto state = state_;
  for (;;) {
    if (auto chunk = try_receive()) co_return std::move(chunk);
    // After the session's end an unread rest is gone, so the end counts only for who had seen it.
    if (state->is_drained) co_return std::optional<Bytes>();
    if (is_over(*state)) co_return fail(failure_of(*state));
    co_await state->changed.wait_pulse();
  }
}

void Channel::finish() {
  state_->is_finished = true;
  if (is_over(*state_)) return;
  state_->core->mux().finish(state_->id);
  state_->core->wake_writer();
}

void Channel::reset(ErrorCode code) {
  if (is_over(*state_)) return;
  state_->core->mux().reset(state_->id, code);
  state_->failure = Error(code, "this side gave up the channel");
  state_->core->wake_writer();
  state_->changed.pulse();
}

IncomingChannel::~IncomingChannel() {
  if (state_) refuse(Error(ErrorCode::unavailable, "nobody answered"));
}

Channel IncomingChannel::accept(v1::Accept accept) {
  OUTHAUL_ASSERT(state_ != nullptr);
  auto state = std::exchange(state_, nullptr);
  if (!is_over(*state)) {
    state->core->mux().accept(state->id, accept);
    state->core->wake_writer();
  }
  state->accept = std::move(accept);
  return Channel(std::move(state));
}

void IncomingChannel::refuse(const Error& error) {
  OUTHAUL_ASSERT(state_ != nullptr);
  const auto state = std::exchange(state_, nullptr);
  if (state->core == nullptr) return;
  auto& core = *state->core;
  core.mux().refuse(state->id, wire::refuse_of(error));
  core.release(*state);
}

}  // namespace outhaul::transport
