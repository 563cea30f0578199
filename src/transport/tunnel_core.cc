#include "transport/tunnel_core.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/assert.h"
#include "base/within.h"
#include "wire/message.h"

namespace outhaul::transport {
namespace {

// How long a Goodbye may take to leave.
constexpr Duration parting_limit = std::chrono::seconds(1);
constexpr std::size_t probe_nonce_bytes = 8;
// How long after a keystroke the next one is expected, and how much others send at once meanwhile.
constexpr Duration typing_lasts = std::chrono::milliseconds(100);
constexpr std::size_t keystroke_bytes = 4096;
constexpr std::size_t small_message_bytes = 2 * (wire::frame_header_bytes + wire::max_frame_payload_bytes);

Error violation(const char* rule) { return Error(ErrorCode::protocol_violation, rule); }

v1::Control goodbye_control(const Error& reason) {
  v1::Control control;
  *control.mutable_goodbye() = wire::goodbye_of(reason);
  if (const auto wait = retry_after_of(reason)) {
    control.mutable_goodbye()->set_retry_after_ns(std::chrono::nanoseconds(*wait).count());
  }
  return control;
}

Error lost(const Error& cause) {
  if (cause.code() == ErrorCode::protocol_violation) return cause;
  return Error(ErrorCode::session_lost, "the link broke: " + cause.what());
}

}  // namespace

TunnelCore::TunnelCore(wire::Side side, std::unique_ptr<Carrier> carrier, TunnelPorts ports,
                       const Executor& executor)
    : side_(side),
      carrier_(std::move(carrier)),
      clock_(ports.clock),
      random_(ports.random),
      executor_(executor),
      mux_(side),
      output_(executor),
      probe_changed_(executor),
      closing_event_(executor),
      flushed_(executor) {}

TunnelCore::~TunnelCore() { end(Error(ErrorCode::session_lost, "the tunnel was given up")); }

void TunnelCore::end(Error reason) {
  if (end_) return;
  end_ = std::move(reason);
  carrier_->close();
  const auto channels = std::exchange(channels_, {});
  for (const auto& [id, state] : channels) {
    state->core = nullptr;
    if (!state->failure)
      state->failure = Error(ErrorCode::session_lost, "the session ended: " + end_->what());
    state->changed.pulse();
  }
  probe_changed_.pulse();
  closing_event_.set();
}

void TunnelCore::begin(wire::SessionTimes times, std::optional<wire::HubClock> hub_clock) {
  heartbeats_.emplace(times, clock_.now());
  hub_clock_ = std::move(hub_clock);
}

Task<Error> TunnelCore::run(TunnelHandler& handler) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  OUTHAUL_ASSERT(heartbeats_.has_value());
  // However this coroutine ends, nobody keeps waiting for the session.
  struct Ender {
    TunnelCore& core;
    ~Ender() { core.end(Error(ErrorCode::session_lost, "the tunnel was given up")); }
  };
  const Ender ender{*this};
  // What came in the same message as Welcome is waiting already.
  auto taken = take_events(handler);
  if (!taken) close(taken.error());
  co_await (read_loop(handler) || write_loop(handler) || beat_loop(handler) || close_loop());
  if (closing_) end(*closing_);
  end(Error(ErrorCode::session_lost, "the session ended"));
  co_return *end_;
}

Task<void> TunnelCore::read_loop(TunnelHandler& handler) {
  for (;;) {
    auto message = co_await carrier_->receive();
    if (!message) {
      if (!closing_) end(lost(message.error()));
      co_return;
    }
    heartbeats_->note_arrival(clock_.now());
    // While a Goodbye leaves, the peer's last words are read so that it can hear ours.
    if (closing_) continue;
    const auto received = mux_.receive(*message);
    const auto taken = take_events(handler);
    if (has_ended()) co_return;
    if (!received) {
      close(received.error());
    } else if (!taken) {
      close(taken.error());
    } else if (mux_.has_output()) {
      output_.pulse();
    }
    co_await give_turn(message->size());
  }
}

Task<void> TunnelCore::write_loop(TunnelHandler& handler) {
  for (;;) {
    while (mux_.has_output()) {
      // Control leaves first, so the message after close() holds the Goodbye.
      const bool is_last = closing_.has_value();
      auto message = mux_.take_output(is_interactive() ? small_message_bytes : wire::max_message_bytes);
      if (const auto taken = take_events(handler); !taken) close(taken.error());
      if (message.empty()) break;
      is_sending_ = true;
      const auto bytes = message.size();
      const auto sent = co_await carrier_->send(std::move(message));
      is_sending_ = false;
      if (!sent) {
        if (!closing_) end(lost(sent.error()));
        co_return;
      }
      if (is_last) flushed_.set();
      co_await give_turn(bytes);
    }
    co_await output_.wait_pulse();
  }
}

bool TunnelCore::is_interactive() {
  const auto frames = mux_.interactive_frames();
  if (frames != std::exchange(interactive_frames_, frames)) interactive_until_ = clock_.now() + typing_lasts;
  return interactive_until_ != TimePoint::min() && clock_.now() < interactive_until_;
}

// Reading and writing go on without a pause as long as the carrier has something to give or room to take:
// good for bulk, but a keystroke would wait for all of it.
Task<void> TunnelCore::give_turn(std::size_t moved_bytes) {
  if (moved_bytes > keystroke_bytes && is_interactive()) co_await asio::post(executor_, asio::use_awaitable);
}

Task<void> TunnelCore::beat_loop(TunnelHandler& handler) {
  for (;;) {
    co_await clock_.sleep_until(std::min(heartbeats_->next_due(), heartbeats_->dead_at()));
    const auto time = now();
    if (heartbeats_->is_dead(time.steady)) {
      if (!closing_) end(Error(ErrorCode::session_lost, "the peer was silent for too long"));
      co_return;
    }
    if (time.steady < heartbeats_->next_due()) continue;
    v1::Control control;
    *control.mutable_heartbeat() = heartbeats_->beat(time);
    *control.mutable_heartbeat()->mutable_load() = handler.load();
    control.mutable_heartbeat()->set_audit_head(handler.audit_head());
    // A full control queue means that nothing leaves, which dead_at() notices.
    if (mux_.send_control(control)) output_.pulse();
  }
}

Task<void> TunnelCore::close_loop() {
  co_await closing_event_.wait();
  if (has_ended()) co_return;
  co_await within(clock_, clock_.now() + parting_limit, flushed_.wait());
}

void TunnelCore::close(Error reason) {
  if (closing_ || end_) return;
  closing_ = std::move(reason);
  // Refused only when 4 MiB of control wait; then the peer learns of the end by the carrier's.
  if (mux_.send_control(goodbye_control(*closing_))) output_.pulse();
  closing_event_.set();
}

Task<Result<void>> TunnelCore::send_now(v1::Control message) {
  OUTHAUL_CO_CHECK(mux_.send_control(message));
  while (mux_.has_output()) {
    is_sending_ = true;
    auto sent = co_await carrier_->send(mux_.take_output());
    is_sending_ = false;
    if (!sent) co_return fail(lost(sent.error()));
  }
  co_return Result<void>();
}

Task<Result<v1::Control>> TunnelCore::receive_control() {
  for (;;) {
    if (auto event = mux_.take_event()) {
      auto* const control = std::get_if<wire::ControlArrived>(&*event);
      if (control == nullptr) co_return fail(violation("handshake: a channel before Welcome"));
      co_return std::move(control->message);
    }
    OUTHAUL_CO_TRY(message, co_await carrier_->receive());
    OUTHAUL_CO_CHECK(mux_.receive(message));
  }
}

Task<void> TunnelCore::part(Error reason) {
  if (!is_sending_ && !end_)
    co_await within(clock_, clock_.now() + parting_limit, send_now(goodbye_control(reason)));
  end(std::move(reason));
}

Result<Channel> TunnelCore::open(const wire::ChannelTarget& target, v1::Open open) {
  if (end_ || closing_) return fail(ErrorCode::session_lost, "open channel: the session has ended");
  if (!wire::may_open(side_, target.plane())) {
    return fail(ErrorCode::invalid, "open channel: this side does not open the plane " +
                                        std::string(wire::name_of(target.plane())));
  }
  open.set_plane(std::string(wire::name_of(target.plane())));
  open.set_target(target.target().text());
  auto id = mux_.open(std::move(open));
  if (!id) {
    // Fresh ids come with a fresh session.
    if (!id.error().details().empty())
      close(Error(ErrorCode::session_lost, "the session has used up its channel ids"));
    return fail(std::move(id).error());
  }
  output_.pulse();
  return Channel(add_channel(*id));
}

Result<void> TunnelCore::send_control(const v1::Control& message) {
  if (end_ || closing_) return fail(ErrorCode::session_lost, "control message: the session has ended");
  OUTHAUL_CHECK(mux_.send_control(message));
  output_.pulse();
  return {};
}

Task<bool> TunnelCore::probe(TimePoint deadline) {
  if (end_ || closing_) co_return false;
  const auto nonce = random_.bytes(probe_nonce_bytes);
  v1::Control control;
  control.mutable_probe()->set_nonce(nonce);
  awaited_probes_.insert(nonce);
  if (send_control(control)) co_await within(clock_, deadline, wait_for_probe(nonce));
  const bool is_answered = awaited_probes_.erase(nonce) == 0;
  co_return is_answered && !has_ended();
}

Task<void> TunnelCore::wait_for_probe(Bytes nonce) {
  while (!has_ended() && awaited_probes_.contains(nonce)) co_await probe_changed_.wait_pulse();
}

std::shared_ptr<ChannelState> TunnelCore::add_channel(wire::ChannelId id) {
  auto state = std::make_shared<ChannelState>(*this, id, executor_);
  channels_.emplace(id, state);
  return state;
}

ChannelState* TunnelCore::find_channel(wire::ChannelId id) {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : found->second.get();
}

void TunnelCore::release(const ChannelState& state) {
  channels_.erase(state.id);
  output_.pulse();
}

std::optional<std::chrono::nanoseconds> TunnelCore::hub_offset() const {
  if (!hub_clock_) return std::nullopt;
  return hub_clock_->offset(now());
}

}  // namespace outhaul::transport
