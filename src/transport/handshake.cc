// The two handshakes of transport/tunnel.h.
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/within.h"
#include "transport/tunnel_access.h"
#include "transport/tunnel_core.h"
#include "wire/message.h"

namespace outhaul::transport {
namespace {

Error too_slow() { return Error(ErrorCode::deadline_exceeded, "handshake: it took longer than its limit"); }

// Takes back what admit() gave, unless the tunnel came to life.
class Admitted {
 public:
  explicit Admitted(TunnelAdmission& admission) : admission_(admission) {}
  Admitted(const Admitted&) = delete;
  Admitted& operator=(const Admitted&) = delete;
  ~Admitted() {
    if (is_held_) admission_.abandon(facts, welcome);
  }
  void hold() { is_held_ = true; }
  void release() { is_held_ = false; }

  wire::HelloFacts facts;
  v1::Welcome welcome;

 private:
  TunnelAdmission& admission_;
  bool is_held_ = false;
};

// References: all three live in the frame of accept_tunnel(), which awaits this.
Task<Result<void>> greet_node(TunnelCore& core, wire::HubSession& session, TunnelAdmission& admission,
                              Admitted& admitted) {
  v1::Control challenge;
  *challenge.mutable_challenge() = session.challenge();
  OUTHAUL_CO_CHECK(co_await core.send_now(std::move(challenge)));
  OUTHAUL_CO_TRY(answer, co_await core.receive_control());
  if (answer.has_goodbye()) co_return fail(error_of_goodbye(answer.goodbye()));
  if (!answer.has_hello()) co_return fail(ErrorCode::protocol_violation, "handshake: no Hello");
  OUTHAUL_CO_TRY(facts, session.receive_hello(answer.hello(), core.peer().tls_uri, core.now()));
  admitted.facts = std::move(facts);
  OUTHAUL_CO_TRY(welcome, co_await admission.admit(admitted.facts, core.peer()));
  admitted.welcome = std::move(welcome);
  admitted.hold();
  session.complete_welcome(admitted.welcome, core.now());
  v1::Control control;
  *control.mutable_welcome() = admitted.welcome;
  co_return co_await core.send_now(std::move(control));
}

Task<Result<wire::WelcomeFacts>> greet_hub(TunnelCore& core, wire::NodeSession& session, v1::Hello hello) {
  OUTHAUL_CO_TRY(challenge, co_await core.receive_control());
  if (challenge.has_goodbye()) co_return fail(error_of_goodbye(challenge.goodbye()));
  if (!challenge.has_challenge()) co_return fail(ErrorCode::protocol_violation, "handshake: no Challenge");
  v1::Control control;
  OUTHAUL_CO_TRY(signed_hello,
                 session.receive_challenge(challenge.challenge(), std::move(hello), core.now()));
  *control.mutable_hello() = std::move(signed_hello);
  OUTHAUL_CO_CHECK(co_await core.send_now(std::move(control)));
  OUTHAUL_CO_TRY(answer, co_await core.receive_control());
  if (answer.has_goodbye()) co_return fail(error_of_goodbye(answer.goodbye()));
  if (!answer.has_welcome()) co_return fail(ErrorCode::protocol_violation, "handshake: no Welcome");
  co_return session.receive_welcome(answer.welcome(), core.now());
}

}  // namespace

Error error_of_goodbye(const v1::Goodbye& goodbye) {
  auto error = wire::error_of(goodbye);
  if (goodbye.retry_after_ns() <= 0) return error;
  return with_retry_after(std::move(error), std::chrono::nanoseconds(goodbye.retry_after_ns()));
}

Task<Result<AcceptedTunnel>> accept_tunnel(std::unique_ptr<Carrier> carrier, wire::HubSession::Config config,
                                           TunnelAdmission& admission, TunnelPorts ports) {
  const auto executor = co_await asio::this_coro::executor;
  config.hub_spki = carrier->peer().hub_spki;
  const auto times = config.times;
  const auto core = std::make_shared<TunnelCore>(wire::Side::hub, std::move(carrier), ports, executor);
  wire::HubSession session(std::move(config), ports.random.bytes(wire::HubSession::nonce_bytes), core->now());
  Admitted admitted(admission);
  auto greeted = co_await within(ports.clock, session.handshake_deadline(),
                                 greet_node(*core, session, admission, admitted));
  if (!greeted || !*greeted) {
    auto reason = greeted ? greeted->error() : too_slow();
    co_await core->part(reason);
    co_return fail(std::move(reason));
  }
  admitted.release();
  core->begin(times, std::nullopt);
  co_return AcceptedTunnel{TunnelAccess::make(core), std::move(admitted.facts), std::move(admitted.welcome)};
}

Task<Result<DialledTunnel>> dial_tunnel(std::unique_ptr<Carrier> carrier, wire::NodeSession::Config config,
                                        const wire::HelloSigner& signer, v1::Hello hello, TunnelPorts ports) {
  const auto executor = co_await asio::this_coro::executor;
  config.observed_spki = carrier->peer().hub_spki;
  const auto core = std::make_shared<TunnelCore>(wire::Side::node, std::move(carrier), ports, executor);
  wire::NodeSession session(std::move(config), signer, core->now());
  auto greeted =
      co_await within(ports.clock, session.handshake_deadline(), greet_hub(*core, session, std::move(hello)));
  if (!greeted || !*greeted) {
    auto reason = greeted ? greeted->error() : too_slow();
    co_await core->part(reason);
    co_return fail(std::move(reason));
  }
  auto& facts = **greeted;
  core->begin(facts.times, facts.hub_clock);
  co_return DialledTunnel{TunnelAccess::make(core), std::move(facts)};
}

}  // namespace outhaul::transport
