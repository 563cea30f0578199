#include "hub/nodes/node_gate.h"

#include "base/event.h"
#include "base/within.h"
#include "crypto/certificate.h"
#include "hub/nodes/certificate_rules.h"

namespace outhaul::hub {
namespace {

constexpr Duration drain_retry = std::chrono::seconds(2);
constexpr std::string_view features[] = {"streams", "stdin"};

Error draining() {
  return transport::with_retry_after(Error(ErrorCode::draining, "the hub is shutting down"), drain_retry);
}

// What the database says of streams that are no longer in the store.
using Archived = std::map<StreamId, std::uint64_t>;  // payload bytes

Result<Archived> find_archived(store::ReadTransaction& tx, const std::vector<StreamId>& streams) {
  Archived archived;
  for (const auto& id : streams) {
    OUTHAUL_TRY(row, tx.streams.find(id));
    if (row) archived.emplace(id, row->payload_bytes);
  }
  return archived;
}

}  // namespace

bool NodeGate::enter(NodeSession& session) {
  const auto holder = places_.find(session.node());
  if (!holder || holder->session != session.id()) return false;
  sessions_.emplace(session.id(), &session);
  return true;
}

void NodeGate::leave(const NodeSession& session) {
  sessions_.erase(session.id());
  places_.leave(session.node(), session.id());
}

void NodeGate::close_all(const Error& reason) {
  for (const auto& [id, session] : sessions_) session->close(reason);
}

Task<Result<v1::Welcome>> NodeGate::admit(const wire::HelloFacts& facts, const transport::CarrierPeer& peer) {
  if (is_draining_) co_return fail(draining());
  if (peer.tls_uri.empty()) co_return fail(ErrorCode::unauthenticated, "the node showed no TLS certificate");
  if (needs_.registry.find(facts.node) == nullptr) {
    co_return fail(co_await NodeRegistry::why_gone(database_, facts.node));
  }
  OUTHAUL_CO_CHECK(check_identity(facts, peer));
  const wire::Claimant newcomer{SessionId::make(clock_.wall_now(), random_), facts.instance, peer.address};
  OUTHAUL_CO_CHECK(co_await take_place(facts.node, newcomer));
  auto welcomed = co_await welcome(facts, newcomer.session);
  // The node may have been removed, or the hub begun to drain, while the database was asked.
  if (welcomed && !is_draining_ && needs_.registry.find(facts.node) != nullptr) co_return std::move(welcomed);
  places_.leave(facts.node, newcomer.session);
  if (!welcomed) co_return fail(welcomed.error());
  co_return fail(is_draining_ ? draining()
                              : Error(ErrorCode::node_removed, "this node was removed from the hub"));
}

void NodeGate::abandon(const wire::HelloFacts& facts, const v1::Welcome& welcome) {
  places_.leave(facts.node, SessionId::assume(welcome.session_id()));
}

Result<void> NodeGate::check_identity(const wire::HelloFacts& facts,
                                      const transport::CarrierPeer& peer) const {
  const auto* record = needs_.registry.find(facts.node);
  OUTHAUL_TRY(certificate, crypto::Certificate::parse_der(facts.hello.signing_certificate()));
  // An identity is never replaced silently: the key is the one that was enrolled.
  if (certificate.ed25519_key() != record->row.signing_key) {
    return fail(ErrorCode::unauthenticated, "the signing key is not the one that was enrolled");
  }
  if (!peer.certificate) return {};
  return judge_attachment(record->row, *peer.certificate, clock_.wall_now());
}

Task<Result<void>> NodeGate::take_place(const NodeId& node, const wire::Claimant& newcomer) {
  auto arrival = places_.arrive(node, newcomer);
  if (!arrival) co_return fail(arrival.error());
  if (const auto* probe = std::get_if<wire::ProbeOld>(&*arrival)) {
    if (co_await is_alive(probe->old)) co_return fail(places_.old_answered(node, newcomer.session));
    arrival = places_.old_silent(node, newcomer.session);
    if (!arrival) co_return fail(arrival.error());
  }
  if (const auto* replace = std::get_if<wire::ReplaceOld>(&*arrival)) {
    const auto old = sessions_.find(replace->old);
    const Error reason(ErrorCode::session_replaced, "a newer session of the same node took over");
    if (old != sessions_.end()) old->second->close(reason);
  }
  co_return Result<void>();
}

// The probe is a child of the session that it asks, so that neither outlives the other; a session that ends
// meanwhile is as good as silent.
Task<bool> NodeGate::is_alive(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) co_return false;
  const auto deadline = clock_.now() + wire::SessionTimes().probe_limit;
  // Shared by this coroutine and by the child: either may end first.
  const auto answered = std::make_shared<Event>(executor_);
  auto* old = found->second;
  auto ask = [old, deadline, answered]() -> Task<void> {
    if (co_await old->probe(deadline)) answered->set();
  };
  old->spawn(std::move(ask));
  co_return co_await within(clock_, deadline, answered->wait());
}

Task<Result<v1::Welcome>> NodeGate::welcome(const wire::HelloFacts& facts, const SessionId& session) const {
  v1::Welcome message;
  message.set_session_id(session.text());
  message.set_hub_epoch(needs_.signer.epoch());
  auto& key = *message.add_signing_keys();
  key.set_key_id(needs_.keys.signing_key_id.text());
  key.set_public_key(needs_.keys.signing_key.public_key());
  for (const auto feature : features) message.add_capabilities(std::string(feature));
  message.set_drain(needs_.registry.find(facts.node)->facts.is_draining);
  std::vector<StreamId> elsewhere;
  for (const auto& claimed : facts.hello.unacknowledged()) {
    const auto id = StreamId::assume(claimed.stream_id());
    const auto totals = needs_.streams.find(id);
    if (!totals) {
      elsewhere.push_back(id);
    } else if (totals->incarnation.bytes() == claimed.incarnation()) {
      *message.add_positions() = wire_position(id, totals->incarnation, totals->durable);
    }
  }
  auto work = [elsewhere = std::move(elsewhere)](store::ReadTransaction& tx) {
    return find_archived(tx, elsewhere);
  };
  OUTHAUL_CO_TRY(archived, co_await database_.read(std::move(work)));
  for (const auto& claimed : facts.hello.unacknowledged()) {
    const auto found = archived.find(StreamId::assume(claimed.stream_id()));
    if (found == archived.end()) continue;
    auto& position = *message.add_positions();
    position = claimed;
    position.set_offset(found->second);
    position.set_complete(true);
  }
  message.set_audit_head(needs_.audit.heads().own_head());
  co_return std::move(message);
}

}  // namespace outhaul::hub
