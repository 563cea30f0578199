#include "hub/nodes/node_service.h"

#include "base/free_memory.h"

namespace outhaul::hub {
namespace {

// Load and attachment are in memory; a minute of `last_seen` is all that a crash may take.
constexpr Duration sighting_interval = std::chrono::minutes(1);

// What a handshake needs for a moment lies between what sessions keep, so the allocator returns little of it
// by itself.
constexpr std::uint64_t attachments_per_tidying = 128;

using Sightings = std::vector<std::pair<NodeId, store::NodeSighting>>;

std::unexpected<Error> no_such_node() { return fail(ErrorCode::not_found, "no such node"); }

Result<void> write_sightings(store::Transaction& tx, const Sightings& sightings) {
  for (const auto& [id, sighting] : sightings) OUTHAUL_CHECK(tx.nodes.note_seen(id, sighting));
  return {};
}

}  // namespace

NodeService::NodeService(const HubPorts& ports, const Needs& needs)
    : clock_(ports.clock),
      random_(ports.random),
      database_(ports.database),
      log_(ports.log),
      needs_(needs),
      handshakes_(ports.executor),
      sessions_(ports.executor) {}

Task<Result<void>> NodeService::load_all() {
  store::PageRequest page{store::max_page_rows, {}};
  do {
    auto work = [page](store::ReadTransaction& tx) { return tx.nodes.list(page); };
    OUTHAUL_CO_TRY(nodes, co_await database_.read(std::move(work)));
    page.cursor = nodes.next_cursor;
    for (auto& row : nodes.rows) needs_.registry.put(std::move(row));
  } while (!page.cursor.empty());
  co_return Result<void>();
}

void NodeService::attach(std::unique_ptr<transport::Carrier> carrier) {
  auto body = [this, held = std::move(carrier)]() mutable -> Task<void> {
    return shake_hands(std::move(held));
  };
  handshakes_.spawn(std::move(body));
}

wire::HubSession::Config NodeService::session_config() const {
  wire::HubSession::Config config;
  config.times.heartbeat_interval = needs_.settings.heartbeat_interval;
  config.times.dead_after = needs_.settings.dead_after;
  config.deployment = needs_.settings.deployment;
  config.authorities = {needs_.keys.authority.certificate()};
  return config;
}

Task<void> NodeService::shake_hands(std::unique_ptr<transport::Carrier> carrier) {
  const auto peer = carrier->peer();
  const auto& address = peer.address;
  auto config = session_config();
  const transport::TunnelPorts ports{clock_, random_};
  auto accepted =
      co_await transport::accept_tunnel(std::move(carrier), std::move(config), needs_.gate, ports);
  if (!accepted) {
    log_.info("node refused", {{"address", address},
                               {"code", name_of(accepted.error().code())},
                               {"reason", accepted.error().what()}});
    needs_.audit.note_refusal(audit::AuditEntry(audit::AuditAction::session_refused, peer.tls_uri, "")
                                  .with("address", address)
                                  .refused_by(accepted.error()));
    co_return;
  }
  auto session = std::make_unique<NodeSession>(needs_.session, std::move(*accepted));
  if (!needs_.gate.enter(*session)) co_return;
  auto& live = *session;
  live_.emplace(live.id(), std::move(session));
  sessions_.spawn([this, &live] { return serve(live); });
  if (++attachments_ % attachments_per_tidying == 0) give_back_free_memory();
}

Task<void> NodeService::serve(NodeSession& session) {
  log_.info("node attached", {{"node", session.node().text()}, {"session", session.id().text()}});
  needs_.renewal.remind(session);
  using audit::AuditAction;
  needs_.audit.note(
      audit::AuditEntry(AuditAction::session_attached, session.node().text(), session.id().text()));
  const auto reason = co_await session.run();
  needs_.audit.note(audit::AuditEntry(AuditAction::session_ended, session.node().text(), session.id().text())
                        .with("code", std::string(name_of(reason.code())))
                        .with("reason", reason.what()));
  needs_.gate.leave(session);
  log_.info("node detached", {{"node", session.node().text()},
                              {"session", session.id().text()},
                              {"code", name_of(reason.code())},
                              {"reason", reason.what()}});
  const auto id = session.id();
  live_.erase(id);
}

Result<NodeService::Listing> NodeService::list(const store::PageRequest& page,
                                               const std::string& pool) const {
  if (page.limit == 0 || page.limit > store::max_page_rows)
    return fail(ErrorCode::invalid, "limit: 1 to 200");
  if (!page.cursor.empty() && !NodeId::parse(page.cursor))
    return fail(ErrorCode::invalid, "cursor: no page gave it");
  Listing listing;
  const auto& records = needs_.registry.records();
  for (auto next = records.upper_bound(NodeId::assume(page.cursor)); next != records.end(); ++next) {
    if (!pool.empty() && next->second.row.pool != pool) continue;
    if (listing.records.size() == page.limit) {
      listing.next_cursor = listing.records.back()->row.id.text();
      break;
    }
    listing.records.push_back(&next->second);
  }
  return listing;
}

Result<const NodeRecord*> NodeService::find(const std::string& id_or_name) const {
  const NodeRecord* record = needs_.registry.find_by_text(id_or_name);
  if (record == nullptr) return no_such_node();
  return record;
}

std::vector<const NodeRecord*> NodeService::attached() const {
  std::vector<const NodeRecord*> list;
  for (const auto& [id, record] : needs_.registry.records()) {
    if (record.attachment) list.push_back(&record);
  }
  return list;
}

Result<void> NodeService::answer_question(const v1::AnswerQuestion& answer) {
  const auto task = TaskId::assume(answer.task_id());
  for (const auto* record : attached()) {
    const auto* question = needs_.registry.find_question(record->row.id, task);
    if (question == nullptr) continue;
    if (!question->may_be_answered())
      return fail(ErrorCode::denied, "only the node's owner answers its questions");
    if (answer.answer() == "session" && !question->may_be_for_session()) {
      return fail(ErrorCode::invalid, "the node asks each time: answer once or never");
    }
    auto* link = record->attachment->link;
    if (link == nullptr) return fail(ErrorCode::unavailable, "the node is away");
    v1::Control control;
    *control.mutable_answer_question() = answer;
    return link->send_control(control);
  }
  return fail(ErrorCode::not_found, "no question of this task is open");
}

Task<Result<NodeId>> NodeService::set_drain(std::string id_or_name, bool drain) {
  const auto* known = needs_.registry.find_by_text(id_or_name);
  if (known == nullptr) co_return no_such_node();
  const auto id = known->row.id;
  const auto state = drain ? store::NodeState::draining : store::NodeState::enabled;
  auto work = [id, state](store::Transaction& tx) { return tx.nodes.set_state(id, state); };
  OUTHAUL_CO_CHECK(co_await database_.transact(std::move(work)));
  auto* record = needs_.registry.find(id);
  if (record == nullptr) co_return no_such_node();
  auto row = record->row;
  row.state = state;
  needs_.registry.put(std::move(row));
  v1::Control control;
  control.mutable_set_drain()->set_drain(drain);
  // A node that is away, or whose queue is full, hears it in Welcome.
  if (auto* link = needs_.registry.link_of(id)) static_cast<void>(link->send_control(control));
  needs_.session.board.wake_dispatcher();
  co_return id;
}

Task<Result<void>> NodeService::remove(std::string id_or_name, std::string loss) {
  const auto* known = needs_.registry.find_by_text(id_or_name);
  if (known == nullptr) co_return no_such_node();
  const auto id = known->row.id;
  auto work = [id](store::Transaction& tx) { return tx.nodes.set_state(id, store::NodeState::removed); };
  OUTHAUL_CO_CHECK(co_await database_.transact(std::move(work)));
  const Error reason(ErrorCode::node_removed, "this node was removed from the hub");
  if (auto* link = needs_.registry.link_of(id)) link->close(reason);
  needs_.registry.forget(id);
  needs_.dispatcher.lose_all(id, Error(ErrorCode::task_lost, std::move(loss)));
  log_.info("node removed", {{"node", id.text()}});
  co_return Result<void>();
}

Task<void> NodeService::save_sightings() {
  while (true) {
    co_await clock_.sleep_for(sighting_interval);
    co_await save_changed();
  }
}

Task<void> NodeService::save_changed() {
  Sightings changed;
  for (auto& [id, record] : needs_.registry.records()) {
    if (std::exchange(record.has_unsaved_sighting, false)) changed.emplace_back(id, record.row.last_seen);
  }
  if (changed.empty()) co_return;
  auto work = [changed = std::move(changed)](store::Transaction& tx) { return write_sightings(tx, changed); };
  const auto written = co_await database_.transact(std::move(work));
  if (!written) log_.failure("sightings of nodes not written", written.error());
}

Task<void> NodeService::close(Error reason) {
  needs_.gate.begin_drain();
  handshakes_.cancel();
  co_await handshakes_.join();
  needs_.gate.close_all(reason);
  co_await sessions_.join();
}

}  // namespace outhaul::hub
