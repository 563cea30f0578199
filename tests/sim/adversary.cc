#include "tests/sim/adversary.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/within.h"
#include "transport/tunnel.h"

namespace outhaul::sim {
namespace {

using namespace std::chrono_literals;

constexpr int forgery_kinds = 6;
constexpr Duration answer_limit = 5s;

// Welcomes everybody, as the true hub would.
class OpenDoor final : public transport::TunnelAdmission {
 public:
  OpenDoor(WallTime now, Random& random) : session_(SessionId::make(now, random)) {}
  Task<Result<v1::Welcome>> admit(const wire::HelloFacts&, const transport::CarrierPeer&) override {
    v1::Welcome welcome;
    welcome.set_session_id(session_.text());
    welcome.set_hub_epoch(1);
    co_return welcome;
  }
  void abandon(const wire::HelloFacts&, const v1::Welcome&) override {}

 private:
  SessionId session_;
};

// Takes nothing: streams are refused, so the node keeps them for its true hub.
class DeafHandler final : public transport::TunnelHandler {
 public:
  void on_control(const v1::Control&) override {}
  void on_open(transport::IncomingChannel) override {}
};

}  // namespace

struct Adversary::Visit {
  explicit Visit(transport::AcceptedTunnel accepted)
      : node(accepted.facts.node), tunnel(std::move(accepted.tunnel)) {}
  NodeId node;
  transport::Tunnel tunnel;
  DeafHandler handler;
};

Adversary::Adversary(const Stage& stage, PromiseBook& promises, std::uint64_t seed)
    : stage_(stage),
      promises_(promises),
      random_(seed),
      own_key_(crypto::SigningKey::generate(random_)),
      process_(testing::SimProcess::make(stage.world, "rogue", 0s)),
      group_(process_->executor()) {
  stage_.network.listen("rogue", process_, SimDeployment::spki(),
                        [this](auto carrier) { take(std::move(carrier)); });
}

Adversary::~Adversary() {
  stage_.network.deaden(*process_, Death::killed);
  process_->destroy_frames();
}

void Adversary::intercept(const Victim& victim, Duration span) {
  stage_.trace.say("rogue", "intercepts " + victim.path);
  // It may lie about the time, too: then what is expired is decided by the lie, and is not offered.
  process_->clock().set_skew(victim.hub_skew);
  offers_[victim.node] = prepare(victim);
  stage_.network.route(victim.path, "rogue");
  stage_.world.at(stage_.world.now() + span, [this, path = victim.path] { leave(path); });
}

std::vector<Bytes> Adversary::prepare(const Victim& victim) {
  std::vector<Bytes> offers;
  const auto& captured = promises_.envelopes(victim.path);
  for (std::size_t i = 0; i < captured.size() && i < 4; ++i)
    offers.push_back(captured[random_.below(captured.size())]);
  if (!captured.empty()) offers.push_back(captured.back());
  for (int i = 0; i < 4; ++i) {
    if (auto forged = forge(victim, static_cast<int>(random_.below(forgery_kinds))))
      offers.push_back(std::move(*forged));
  }
  return offers;
}

wire::TaskSpec Adversary::make_spec(const Victim& victim) {
  wire::TaskSpec spec;
  spec.task_id = TaskId::make(victim.hub_time, random_);
  spec.issuer = SimDeployment::name();
  spec.audience = victim.node;
  spec.owner = stage_.deployment.account();
  spec.issued_at = victim.hub_time;
  spec.expires_at = victim.hub_time + 5min;
  spec.nonce = random_.bytes(wire::task_nonce_bytes);
  spec.fence = {1, 1};
  spec.action = wire::ArgvAction{{"program", "out=evil"}};
  spec.stream_id = StreamId::make(victim.hub_time, random_);
  return spec;
}

Bytes Adversary::sign(const wire::TaskSpec& spec) const {
  return wire::sign_task(spec, stage_.deployment.signing_key_id(), stage_.deployment.signing_key()).value();
}

std::optional<Bytes> Adversary::forge(const Victim& victim, int kind) {
  auto spec = make_spec(victim);
  const auto forbid = [&](const char* why) { stage_.programs.forbid(spec.task_id, why); };
  auto envelope = wire::parse_envelope(sign(spec)).value();
  switch (kind) {
    case 0:
      forbid("unsigned");
      envelope.signatures.clear();
      return wire::serialise_envelope(envelope);
    case 1:
      forbid("signed by another key");
      return wire::sign_task(spec, stage_.deployment.signing_key_id(), own_key_).value();
    case 2:
      forbid("changed after it was signed");
      envelope.payload.replace(envelope.payload.find("evil"), 4, "good");
      return wire::serialise_envelope(envelope);
    case 3:
      forbid("signed for another node");
      spec.audience = victim.other_node;
      return sign(spec);
    case 4:
      if (!victim.is_hub_clock_steady) return std::nullopt;
      forbid("expired");
      spec.issued_at = victim.hub_time - 4min;
      spec.expires_at = victim.hub_time - 1min;
      return sign(spec);
    default:
      if (!victim.is_hub_clock_steady) return std::nullopt;
      forbid("issued in the future");
      spec.issued_at = victim.hub_time + 20min;
      spec.expires_at = victim.hub_time + 25min;
      return sign(spec);
  }
}

void Adversary::take(std::unique_ptr<transport::Carrier> carrier) {
  auto body = [this, held = std::move(carrier)]() mutable { return attack(std::move(held)); };
  group_.spawn(std::move(body));
}

Task<void> Adversary::attack(std::unique_ptr<transport::Carrier> carrier) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  wire::HubSession::Config config;
  config.deployment = SimDeployment::name();
  config.authorities = {stage_.deployment.certificate()};
  OpenDoor door(process_->clock().wall_now(), random_);
  const transport::TunnelPorts ports{process_->clock(), random_};
  auto accepted = co_await transport::accept_tunnel(std::move(carrier), std::move(config), door, ports);
  if (!accepted) co_return;
  Visit visit(std::move(*accepted));
  co_await (visit.tunnel.run(visit.handler) || offer_all(visit));
}

Task<void> Adversary::offer_all(Visit& visit) {
  const auto target = wire::ChannelTarget::parse("task", "workspace:default").value();
  const auto offers = offers_[visit.node];
  for (const auto& offer : offers) {
    v1::Open open;
    open.mutable_envelope()->set_bytes(offer);
    auto channel = visit.tunnel.open(target, std::move(open));
    if (!channel) co_return;
    // What the node says is in the trace; what it does is in the books.
    static_cast<void>(
        co_await within(process_->clock(), process_->clock().now() + answer_limit, channel->accepted()));
  }
  const auto pause = Duration(std::chrono::milliseconds(random_.below(5000)));
  co_await process_->clock().sleep_for(pause);
}

}  // namespace outhaul::sim
