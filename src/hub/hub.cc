#include "hub/hub.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/task_group.h"
#include "base/within.h"
#include "hub/accounts/account_service.h"
#include "hub/accounts/admission.h"
#include "hub/accounts/user_key_service.h"
#include "hub/audit/hub_audit.h"
#include "hub/nodes/absence_watch.h"
#include "hub/nodes/departure.h"
#include "hub/nodes/enrolment.h"
#include "hub/nodes/ephemeral_watch.h"
#include "hub/nodes/node_gate.h"
#include "hub/nodes/node_registry.h"
#include "hub/nodes/node_service.h"
#include "hub/nodes/node_session.h"
#include "hub/nodes/renewal.h"
#include "hub/streams/hub_streams.h"
#include "hub/streams/output_reader.h"
#include "hub/streams/stdin_inlet.h"
#include "hub/streams/stdin_pump.h"
#include "hub/streams/stream_sweep.h"
#include "hub/tasks/courier.h"
#include "hub/tasks/dispatcher.h"
#include "hub/tasks/live_task.h"
#include "hub/tasks/task_adoption.h"
#include "hub/tasks/task_ender.h"
#include "hub/tasks/task_rows.h"
#include "hub/tasks/task_service.h"
#include "hub/tasks/task_signer.h"
#include "store/database.h"
#include "transport/carrier.h"
#include "transport/tunnel.h"

namespace outhaul::hub {

// In the order of their needs: each part refers to those above it.
struct Hub::Parts {
  Parts(const HubPorts& hub_ports, HubSettings hub_settings, HubKeys hub_keys)
      : ports(hub_ports), settings(std::move(hub_settings)), keys(std::move(hub_keys)) {}

  HubPorts ports;
  HubSettings settings;
  HubKeys keys;
  HubStreams streams{ports, settings};
  HubAudit audit{ports, settings, keys};
  TaskBoard board{ports.executor};
  NodeRegistry registry;
  TaskRows rows{ports};
  TaskEnder ender{ports, {board, rows, streams.store(), registry, audit}};
  TaskSigner signer{settings, keys, ports.clock, ports.random};
  StdinPump stdin_pump{streams.store(), ports.log};
  StdinInlet stdin_inlet{ports.clock, streams.store()};
  Courier courier{ports, {board, rows, ender, registry, signer, stdin_pump, audit}};
  Dispatcher dispatcher{ports, {board, registry, courier, ender, streams.store()}};
  TaskAdoption adoption{ports, {board, rows, signer, stdin_inlet, audit}};
  TaskService tasks{
      ports,
      {settings, registry, board, rows, ender, dispatcher, courier, stdin_inlet, streams.store(), audit}};
  NodeGate gate{ports, {keys, signer, registry, streams.store(), audit}};
  RenewalService renewal{ports, {settings, keys, registry, audit}};
  NodeService nodes{ports, {settings, keys, registry, gate, dispatcher, renewal, audit, session_needs()}};
  AbsenceWatch absence{ports, {settings, registry, board, dispatcher, signer}};
  EphemeralWatch ephemeral{ports, {settings, registry, nodes, audit}};
  DepartureService departure{ports, {settings, registry, nodes, audit}};
  EnrolmentService enrolment{ports, settings, keys, registry};
  Admission admission{ports.executor, ports.clock, ports.database};
  AccountService accounts{ports, admission};
  UserKeyService user_keys{ports, settings.deployment};
  TaskGroup loops{ports.executor};
  bool is_open = false;

  NodeSession::Needs session_needs() {
    return {ports.executor, registry, board,
            dispatcher,     audit,    {ports.clock, ports.log, streams.store(), courier, adoption, ender}};
  }
};

Hub::Hub(const HubPorts& ports, HubSettings settings, HubKeys keys)
    : parts_(std::make_unique<Parts>(ports, std::move(settings), std::move(keys))) {}

Hub::~Hub() = default;

Task<Result<void>> Hub::start() {
  auto& parts = *parts_;
  auto work = [](store::ReadTransaction& tx) { return tx.deployment.load(); };
  OUTHAUL_CO_TRY(deployment, co_await parts.ports.database.read(std::move(work)));
  if (deployment.name != parts.settings.deployment) {
    co_return fail(ErrorCode::store_foreign, "the database belongs to another deployment");
  }
  parts.signer.set_epoch(deployment.hub_epoch);
  OUTHAUL_CO_CHECK(co_await parts.streams.open(parts.audit.owners()));
  parts.is_open = true;
  OUTHAUL_CO_CHECK(co_await parts.audit.open(parts.streams.journal(), deployment.hub_epoch));
  parts.audit.note({audit::AuditAction::process_started, "hub", parts.settings.deployment});
  OUTHAUL_CO_CHECK(co_await parts.nodes.load_all());
  OUTHAUL_CO_CHECK(co_await parts.tasks.recover(parts.streams.store()));
  OUTHAUL_CO_CHECK(co_await sweep_streams(parts.ports, parts.board, parts.streams.store()));
  parts.loops.spawn([&parts] { return parts.dispatcher.run(); });
  parts.loops.spawn([&parts] { return parts.absence.run(); });
  parts.loops.spawn([&parts] { return parts.ephemeral.run(); });
  parts.loops.spawn([&parts] { return parts.nodes.save_sightings(); });
  co_return Result<void>();
}

void Hub::attach(std::unique_ptr<transport::Carrier> carrier) { parts_->nodes.attach(std::move(carrier)); }

void Hub::begin_drain() {
  parts_->tasks.begin_drain();
  parts_->gate.begin_drain();
}

Task<Error> Hub::wait_failed() {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  // Whoever waits for the sync sees it fail; both share the disk and the journal.
  co_await (parts_->streams.store().failed().wait() || parts_->audit.log().failed().wait());
  co_return Error(ErrorCode::unavailable, "the disk of the streams failed a sync; the hub must start again");
}

Task<void> Hub::join() {
  auto& parts = *parts_;
  begin_drain();
  Error goodbye(ErrorCode::draining, "the hub is shutting down");
  co_await parts.nodes.close(transport::with_retry_after(std::move(goodbye), goodbye_retry_after));
  parts.loops.cancel();
  co_await parts.loops.join();
  co_await parts.courier.join();
  co_await parts.adoption.join();
  co_await parts.ender.join();
  co_await parts.rows.join();
  co_await parts.admission.join();
  if (parts.is_open) {
    parts.audit.note({audit::AuditAction::process_stopped, "hub", parts.settings.deployment});
    co_await parts.audit.close();
    co_await parts.streams.close();
  }
}

AccountService& Hub::accounts() { return parts_->accounts; }
UserKeyService& Hub::user_keys() { return parts_->user_keys; }
Admission& Hub::admission() { return parts_->admission; }
EnrolmentService& Hub::enrolment() { return parts_->enrolment; }
RenewalService& Hub::renewal() { return parts_->renewal; }
DepartureService& Hub::departure() { return parts_->departure; }
NodeService& Hub::nodes() { return parts_->nodes; }
TaskService& Hub::tasks() { return parts_->tasks; }
HubAudit& Hub::audit() { return parts_->audit; }
StreamSources Hub::stream_sources() {
  return {parts_->streams.store(), parts_->ports.database, parts_->board};
}
const HubPorts& Hub::ports() const { return parts_->ports; }
const HubSettings& Hub::settings() const { return parts_->settings; }
const HubKeys& Hub::keys() const { return parts_->keys; }

}  // namespace outhaul::hub
