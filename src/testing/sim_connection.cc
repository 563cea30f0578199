#include "testing/sim_connection.h"

#include <algorithm>
#include <utility>

#include "base/event.h"

namespace outhaul::testing {
namespace {

Duration draw_up_to(Random& random, Duration most) {
  return Duration(static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(most.count()) + 1)));
}

}  // namespace

// One end, in the hands of its process. It may be destroyed before or after the other.
class SimCarrier final : public transport::Carrier {
 public:
  SimCarrier(std::shared_ptr<SimConnection> connection, SimSide side, transport::CarrierPeer peer,
             const Executor& executor)
      : connection_(std::move(connection)), side_(side), peer_(std::move(peer)), changed_(executor) {
    own().carrier = this;
  }
  ~SimCarrier() override {
    connection_->close(side_);
    own().carrier = nullptr;
  }

  Task<Result<Bytes>> receive() override {
    auto& inbox = own().inbox;
    while (inbox.empty()) {
      if (own().is_at_end) co_return fail(ErrorCode::unavailable, "the peer closed");
      if (own().has_closed) co_return fail(ErrorCode::unavailable, "closed");
      co_await changed_.wait_pulse();
    }
    Bytes message = std::move(inbox.front());
    inbox.pop_front();
    co_return message;
  }

  Task<Result<void>> send(Bytes message) override {
    while (!own().has_closed && !own().is_at_end && (own().is_dead || !connection_->may_send(side_))) {
      co_await changed_.wait_pulse();
    }
    if (own().has_closed || own().is_at_end) co_return fail(ErrorCode::unavailable, "the peer closed");
    connection_->send(side_, std::move(message));
    co_return Result<void>();
  }

  void close() override {
    connection_->close(side_);
    changed_.pulse();
  }
  const transport::CarrierPeer& peer() const override { return peer_; }

  void pulse() { changed_.pulse(); }

 private:
  SimConnection::End& own() { return connection_->end(side_); }

  // Shared with the other end.
  std::shared_ptr<SimConnection> connection_;
  SimSide side_;
  transport::CarrierPeer peer_;
  Event changed_;
};

SimConnection::SimConnection(const Ports& ports, std::string path, std::string port, std::uint64_t number)
    : world_(ports.world),
      random_(ports.random),
      path_(ports.path),
      watcher_(ports.watcher),
      path_name_(std::move(path)),
      port_name_(std::move(port)),
      number_(number) {}

std::unique_ptr<transport::Carrier> SimConnection::make_end(SimSide side,
                                                            const std::shared_ptr<SimProcess>& process,
                                                            transport::CarrierPeer peer) {
  end(side).process = process;
  return std::make_unique<SimCarrier>(shared_from_this(), side, std::move(peer), process->executor());
}

bool SimConnection::belongs_to(const SimProcess& process, SimSide side) const {
  return end(side).process.lock().get() == &process;
}

Duration SimConnection::draw_delay() {
  const auto& delays = path_.delays;
  auto delay = delays.least + draw_up_to(random_, delays.most - delays.least);
  if (!path_.is_calm && random_.below(delays.spike_one_in) == 0) delay += draw_up_to(random_, delays.spike);
  return delay;
}

void SimConnection::send(SimSide from, Parcel parcel) {
  if (parcel && watcher_) watcher_({*this, from, *parcel});
  End& to = end(other(from));
  to.last_arrival = std::max(to.last_arrival, world_.now() + draw_delay());
  ++to.on_the_way;
  world_.at(to.last_arrival,
            [self = shared_from_this(), side = other(from), parcel = std::move(parcel)]() mutable {
              self->arrive(side, std::move(parcel));
            });
}

void SimConnection::arrive(SimSide to, Parcel parcel) {
  if (is_cut_) return;
  if (path_.silence == SimSilence::hold) {
    held_.emplace_back(to, std::move(parcel));
    return;
  }
  if (path_.silence == SimSilence::swallow) is_forgotten_ = true;
  End& receiver = end(to);
  // Without an acknowledgement the sender's buffer stays full.
  if (is_forgotten_ || receiver.is_dead) return;
  --receiver.on_the_way;
  if (!parcel) {
    receiver.is_at_end = true;
  } else if (!receiver.has_closed) {
    receiver.inbox.push_back(*std::move(parcel));
  }
  wake(to);
  wake(other(to));
}

void SimConnection::wake(SimSide side) {
  End& woken = end(side);
  const auto process = woken.process.lock();
  if (woken.is_dead || woken.carrier == nullptr || !process || process->is_dead()) return;
  woken.carrier->pulse();
  process->drain();
}

void SimConnection::close(SimSide side) {
  End& closing = end(side);
  if (closing.is_dead || std::exchange(closing.has_closed, true)) return;
  closing.inbox.clear();
  send(side, std::nullopt);
}

void SimConnection::reset(SimSide side) {
  world_.at(world_.now() + draw_delay(), [self = shared_from_this(), side] {
    self->end(side).inbox.clear();
    self->end(side).is_at_end = true;
    self->wake(side);
  });
}

void SimConnection::cut() {
  if (std::exchange(is_cut_, true)) return;
  held_.clear();
  reset(SimSide::node);
  reset(SimSide::hub);
}

void SimConnection::end_silence() {
  for (auto& [side, parcel] : std::exchange(held_, {})) arrive(side, std::move(parcel));
}

void SimConnection::deaden(SimSide side, bool says_goodbye) {
  End& dying = end(side);
  if (dying.is_dead) return;
  if (says_goodbye) close(side);
  dying.is_dead = true;
}

}  // namespace outhaul::testing
