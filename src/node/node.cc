#include "node/node.h"

#include <algorithm>

#include "audit/head_exchange.h"
#include "base/event.h"
#include "base/planted_fault.h"
#include "base/task_group.h"
#include "base/time_text.h"
#include "base/within.h"
#include "node/enrolment/renewal_keeper.h"
#include "node/link/link.h"
#include "node/owner/owner_lock.h"
#include "node/tasks/last_word.h"
#include "node/tasks/node_rules.h"
#include "node/tasks/task_runner.h"
#include "sandbox/process_launcher.h"

namespace outhaul::node {
namespace {

// Of a Hello, whose message has a limit.
constexpr int max_hello_positions = 4096;
// For a Goodbye to leave.
constexpr auto goodbye_limit = std::chrono::seconds(3);
// From a KILL to the result on the disk.
constexpr auto ending_limit = std::chrono::seconds(5);
// For the results of ended tasks to reach the hub.
constexpr auto delivery_limit = std::chrono::seconds(5);

stream::StreamStoreConfig store_config_of(const NodeSettings& settings) {
  stream::StreamStoreConfig config;
  config.quota_bytes = settings.spool_bytes;
  config.free_floor_bytes = output_floor_bytes(settings);
  config.small_stream_bytes = settings.files.small_stream_bytes;
  config.segment_bytes = settings.files.segment_bytes;
  return config;
}

}  // namespace

// In the order of their dependence; each is destroyed before what it refers to.
struct Node::Parts final : StreamFollower {
  Parts(const NodePorts& given, NodeSelf given_self, NodeSettings given_settings, NodeFacts given_facts);

  Task<Result<void>> open_journal();
  Task<Result<void>> adopt_tasks();
  Link::Ports make_link_ports();
  v1::Hello make_hello() const;
  void fill_manifest(v1::Manifest& manifest) const;
  v1::Load make_load() const;
  bool takes_no_task() const;
  void fail(Error error);
  void read_lock();
  Task<Result<void>> make_durable(Result<stream::JournalPosition> appended);
  Task<void> keep_attached();
  Task<void> wind_up();
  // True when nothing runs and the hub has everything, before `deadline`.
  Task<bool> deliver_all(TimePoint deadline);
  Task<void> say_goodbye();
  void on_stream(const StreamId& stream) override {
    if (link) link->on_stream(stream);
  }
  audit::DurableLog::Config audit_config() const;
  void audit_start();
  void audit_stop();
  Task<void> watch_audit();

  NodePorts ports;
  NodeSelf self;
  NodeSettings settings;
  NodeFacts facts;
  InstanceId instance;
  bool is_draining = false;  // our own end
  bool hub_wants_drain = false;
  bool is_locked = false;
  std::optional<Error> fatal;
  Event ended;       // fatal, or drained
  Event link_ended;  // it said goodbye
  Event program_started;
  stream::StreamStore streams;
  audit::DurableLog audit;
  audit::WitnessBook witnesses;
  OwnerPolicy policy;
  ConsentBook book;
  ConsentDesk consent;
  NodeRules rules;
  wire::TaskGate gate;
  TaskLedger ledger;
  audit::HeadExchange heads;
  std::vector<crypto::TrustedKey> hub_head_keys;
  ReceiptWriter receipts;
  std::unique_ptr<stream::Journal> journal;
  std::unique_ptr<TaskRunner> runner;
  std::optional<RenewalKeeper> keeper;
  std::unique_ptr<Link> link;
  TaskGroup group;
};

Node::Parts::Parts(const NodePorts& given, NodeSelf given_self, NodeSettings given_settings,
                   NodeFacts given_facts)
    : ports(given),
      self(std::move(given_self)),
      settings(std::move(given_settings)),
      facts(std::move(given_facts)),
      instance(InstanceId::make(ports.clock.wall_now(), ports.random)),
      ended(ports.executor),
      link_ended(ports.executor),
      program_started(ports.executor),
      streams(ports.executor, ports.disk, store_config_of(settings)),
      audit({ports.executor, ports.clock, ports.random, ports.disk, ports.log}, audit_config()),
      policy(settings, ports.owner.files, ports.owner.file_work),
      consent({ports.executor, ports.clock, ports.log, audit}, book, policy),
      rules({settings, ports.disk, streams, policy, consent, ports.log,
             [this] {
               return NodeRules::Load{runner ? runner->running() : 0, takes_no_task(),
                                      !ports.launcher.is_answering(), is_locked};
             }}),
      gate({self.node, self.deployment, self.name, settings.users}, rules,
           [this](const TaskId& task) { return runner ? runner->state_of(task) : std::nullopt; }),
      ledger(gate),
      heads(audit, witnesses, ports.clock, ports.log),
      receipts(self.node, *self.signer, audit),
      group(ports.executor) {
  for (const auto& trusted : self.hub_keys) {
    for (auto& key : audit::head_keys(trusted.key.public_key())) hub_head_keys.push_back(std::move(key));
  }
  gate.trust(std::move(self.hub_keys));
  if (ports.renewal != nullptr) {
    const RenewalKeeper::Ports keeping{ports.executor, ports.clock, ports.log, *ports.renewal};
    keeper.emplace(keeping, self.node.text());
  }
}

audit::DurableLog::Config Node::Parts::audit_config() const {
  const auto& key = self.signer->signing_key();
  audit::DurableLog::Config config;
  config.log = self.node.text();
  config.signer = {audit::key_id_of(key.public_key()), &key};
  config.certificate = self.signer->signing_certificate();
  config.keep_bytes = settings.audit_bytes;
  config.file_bytes = settings.files.audit_file_bytes;
  return config;
}

Task<Result<void>> Node::Parts::open_journal() {
  std::vector<stream::JournalOwner*> owners = {&streams, &ledger, &book, &audit, &witnesses};
  const stream::JournalConfig config{settings.journal_must_exist, settings.files.checkpoint_bytes};
  auto opened = co_await stream::Journal::open(ports.disk, std::move(owners), config);
  if (!opened) co_return std::unexpected(std::move(opened).error().during("open the node's journal"));
  journal = std::move(*opened);
  const auto& recovery = journal->recovery();
  if (recovery.cut_offset) {
    ports.log.warn("the journal had a torn end", {{"file", recovery.file},
                                                  {"offset", *recovery.cut_offset},
                                                  {"bytes", recovery.cut_bytes},
                                                  {"reason", recovery.reason}});
  }
  OUTHAUL_CO_CHECK(co_await streams.recover(*journal));
  for (const auto& cut : streams.recovery().cuts) {
    ports.log.warn(
        "a segment was cut",
        {{"file", cut.file}, {"offset", cut.offset}, {"reason", cut.reason}, {"moved_to", cut.moved_to}});
  }
  for (const auto& file : streams.recovery().set_aside) {
    ports.log.warn("a segment that the journal does not name was set aside",
                   {{"file", file.name}, {"bytes", file.size}});
  }
  consent.bind(*journal);
  heads.bind(*journal);
  co_return co_await audit.open(*journal);
}

Task<Result<void>> Node::Parts::adopt_tasks() {
  const auto noted = with_reserve(streams, [this] { return ledger.append_start(*journal); });
  // A full disk is no reason to stay away from the hub: only a crash is not counted.
  if (!noted && noted.error().code() != ErrorCode::disk_full) co_return std::unexpected(noted.error());
  audit_start();
  group.spawn([this] { return watch_audit(); });
  OUTHAUL_CO_TRY(processes, co_await ports.launcher.attach());
  const RunPorts run_ports{.executor = ports.executor,
                           .clock = ports.clock,
                           .journal = *journal,
                           .streams = streams,
                           .ledger = ledger,
                           .log = ports.log,
                           .settings = settings,
                           .audit = audit,
                           .receipts = receipts,
                           .facts = facts,
                           .consent = consent,
                           .launcher = ports.launcher,
                           .is_locked = [this] { return is_locked; },
                           .started = program_started};
  TaskRunner::Needs needs{run_ports, ports.random, gate, [this](Error error) { fail(std::move(error)); }};
  if (!OUTHAUL_FAULT("lock_forgotten")) read_lock();
  runner = std::make_unique<TaskRunner>(std::move(needs), *this);
  link = std::make_unique<Link>(make_link_ports(), self.node.text());
  runner->recover(std::move(processes));
  if (is_locked) runner->lock();
  if (fatal) co_return std::unexpected(*fatal);
  co_return Result<void>();
}

Link::Ports Node::Parts::make_link_ports() {
  LiveSession::Ports session{ports.executor,
                             ports.clock,
                             ports.log,
                             streams,
                             ledger,
                             *runner,
                             [this] { return make_load(); },
                             [this] {
                               if (keeper) keeper->hasten();
                             },
                             [this](bool wanted) { hub_wants_drain = wanted; },
                             audit,
                             heads,
                             hub_head_keys,
                             audit::hub_log_name(self.deployment),
                             consent,
                             settings.hub_may_answer};
  return {std::move(session),
          ports.dialer,
          ports.random,
          *self.signer,
          [this] { return make_hello(); },
          [this](const Error& reason) {
            if (keeper) keeper->note_refusal(reason);
          },
          [this] { group.spawn([this] { return wind_up(); }); }};
}

v1::Hello Node::Parts::make_hello() const {
  v1::Hello hello;
  hello.set_version(facts.version);
  hello.set_boot_id(facts.boot_id);
  hello.set_instance_id(instance.text());
  hello.set_slots(settings.slots);
  hello.set_running(runner->running());
  hello.set_locked(is_locked);
  fill_manifest(*hello.mutable_manifest());
  hello.set_audit_head(heads.own_head());
  for (const auto& task : runner->live_tasks()) hello.add_live_tasks(task.text());
  for (const auto& [task, entry] : ledger.tasks()) {
    const auto totals = streams.find(entry.spec.stream_id);
    if (!totals || hello.unacknowledged_size() == max_hello_positions) continue;
    auto& position = *hello.add_unacknowledged();
    position.set_stream_id(entry.spec.stream_id.text());
    position.set_incarnation(entry.incarnation.bytes());
    position.set_offset(totals->end);
    position.set_complete(totals->complete);
  }
  return hello;
}

void Node::Parts::fill_manifest(v1::Manifest& manifest) const {
  manifest.set_platform(facts.platform);
  manifest.set_kernel(facts.kernel);
  manifest.set_hostname(facts.hostname);
  for (const char* plane : {"task", "stream"}) manifest.add_planes(plane);
  for (const auto level : settings.isolation) manifest.add_isolation(std::string(wire::name_of(level)));
  manifest.set_asks_user_signature(settings.users.has_value());
  auto& more = *manifest.mutable_facts();
  for (const auto& [name, value] : facts.more) more[name] = value;
  more["containment"] = std::string(ports.launcher.containment());
}

v1::Load Node::Parts::make_load() const {
  v1::Load load;
  load.set_running(runner->running());
  load.set_slots(settings.slots);
  if (facts.load_average) load.set_load_average(facts.load_average());
  load.set_spool_bytes(streams.disk_bytes());
  const auto free_bytes = ports.disk.free_bytes();
  if (free_bytes) load.set_disk_free_bytes(*free_bytes);
  load.set_draining(takes_no_task() || !ports.launcher.is_answering());
  load.set_locked(is_locked);
  load.set_failed_tasks(runner->failed_tasks());
  load.set_crashes(ledger.crashes());
  return load;
}

bool Node::Parts::takes_no_task() const {
  const bool is_spent =
      settings.most_tasks && runner && runner->accepted_tasks() >= std::uint64_t{*settings.most_tasks};
  return is_draining || hub_wants_drain || is_spent;
}

void Node::Parts::fail(Error error) {
  if (fatal) return;
  fatal = std::move(error);
  ended.set();
}

// What cannot be read locks: it was put there to stop this node.
void Node::Parts::read_lock() {
  if (ports.owner.lock == nullptr) return;
  const auto notice = ports.owner.lock->load();
  if (!notice) ports.log.failure("the owner's lock cannot be read; the node is locked", notice.error());
  const bool was_locked = std::exchange(is_locked, !notice || notice->has_value());
  if (is_locked == was_locked) return;
  ports.log.info(is_locked ? "locked by the node's owner" : "unlocked by the node's owner");
  const auto action = is_locked ? audit::AuditAction::node_locked : audit::AuditAction::node_unlocked;
  audit::AuditEntry changed(action, "owner", self.node.text());
  if (notice && *notice)
    changed = std::move(changed).with("reason", (*notice)->reason).with("since", time_text((*notice)->since));
  audit::note(audit, ports.log, std::move(changed));
}

Task<Result<void>> Node::Parts::make_durable(Result<stream::JournalPosition> appended) {
  if (!appended) co_return std::unexpected(std::move(appended).error());
  co_return co_await journal->durable(*appended);
}

Task<void> Node::Parts::keep_attached() {
  co_await link->run();
  link_ended.set();
}

// The hub has removed this node: nobody answers for what runs here any more. Its data stay.
Task<void> Node::Parts::wind_up() {
  is_draining = true;
  ports.log.warn("removed from the hub: what runs here is ended and nothing is started any more",
                 {{"running", runner->running()}});
  audit::note(audit, ports.log, audit::AuditEntry(audit::AuditAction::node_removed, "hub", self.node.text()));
  runner->end_all(EndReason::removed);
  const TimePoint deadline = ports.clock.now() + settings.max_term_grace + ending_limit;
  while (runner->running() > 0 && ports.clock.now() < deadline) {
    co_await within(ports.clock, deadline, runner->changed().wait_pulse());
  }
  audit_stop();
  fail(Error(ErrorCode::node_removed, "this node was removed from its hub; what ran here has been ended"));
}

Task<bool> Node::Parts::deliver_all(TimePoint deadline) {
  while (runner->running() > 0 || !ledger.tasks().empty()) {
    if (fatal || ports.clock.now() >= deadline) co_return false;
    co_await within(ports.clock, deadline, runner->changed().wait_pulse());
  }
  co_return true;
}

void Node::Parts::audit_start() {
  audit::AuditEntry started(audit::AuditAction::process_started, "", self.node.text());
  started = std::move(started).with("instance", instance.text()).with("version", facts.version);
  audit::note(audit, ports.log, std::move(started).with("crashes", std::to_string(ledger.crashes())));
  if (!settings.policy) return;
  audit::AuditEntry loaded(audit::AuditAction::policy_loaded, "owner", self.node.text());
  loaded = std::move(loaded).with("mode", std::string(policy::name_of(settings.policy->mode)));
  audit::note(audit, ports.log, std::move(loaded).with("sha256", settings.policy_sha256));
}

void Node::Parts::audit_stop() {
  audit::AuditEntry stopped(audit::AuditAction::process_stopped, "", self.node.text());
  audit::note(audit, ports.log, std::move(stopped).with("instance", instance.text()));
}

Task<void> Node::Parts::watch_audit() {
  co_await audit.failed().wait();
  fail(Error(ErrorCode::unavailable, "the disk failed a sync of the audit log; the node must start again"));
}

Task<void> Node::Parts::say_goodbye() {
  audit_stop();
  const auto written = ledger.append_orderly_end(*journal);
  if (written) {
    const auto durable = co_await journal->durable(*written);
    if (!durable) ports.log.failure("the orderly end is not written down", durable.error());
  }
  link->leave(Error(ErrorCode::draining, "the node process ends"));
  co_await within(ports.clock, ports.clock.now() + goodbye_limit, link_ended.wait());
}

Node::Node(const NodePorts& ports, NodeSelf self, NodeSettings settings, NodeFacts facts)
    : parts_(std::make_unique<Parts>(ports, std::move(self), std::move(settings), std::move(facts))) {}

Node::~Node() = default;

Task<Result<void>> Node::open() { return parts_->open_journal(); }

Task<Result<void>> Node::start() {
  OUTHAUL_CO_CHECK(co_await parts_->open_journal());
  OUTHAUL_CO_CHECK(co_await parts_->adopt_tasks());
  parts_->ports.log.info("started",
                         {{"node", parts_->self.node.text()}, {"running", parts_->runner->running()}});
  co_return Result<void>();
}

Task<Result<void>> Node::run() {
  Parts& parts = *parts_;
  parts.group.spawn([&parts] { return parts.keep_attached(); });
  if (parts.keeper) parts.group.spawn([&parts] { return parts.keeper->run(); });
  co_await parts.ended.wait();
  if (parts.fatal) co_return std::unexpected(*parts.fatal);
  co_return Result<void>();
}

Task<void> Node::drain(Duration limit, DrainEnd end) {
  Parts& parts = *parts_;
  parts.is_draining = true;
  parts.ports.log.info("draining", {{"running", parts.runner->running()}});
  const bool is_done = co_await parts.deliver_all(parts.ports.clock.now() + limit);
  if (!is_done && end == DrainEnd::end && !parts.fatal) {
    parts.runner->end_all(EndReason::cancelled);
    co_await parts.deliver_all(parts.ports.clock.now() + parts.settings.max_term_grace + delivery_limit);
  }
  if (!parts.fatal) co_await parts.say_goodbye();
  parts.ended.set();
}

Task<void> Node::wait_spent(Stint::Limits limits) {
  Parts& parts = *parts_;
  auto& clock = parts.ports.clock;
  Stint stint(limits, clock.now());
  for (;;) {
    stint.note({parts.runner->accepted_tasks(), undelivered()}, clock.now());
    if (stint.is_over(clock.now())) co_return;
    co_await within(clock, stint.next_look(clock.now()), parts.runner->changed().wait_pulse());
  }
}

std::size_t Node::undelivered() const { return parts_->ledger.tasks().size(); }

void Node::note_leaving() {
  audit::AuditEntry leaving(audit::AuditAction::node_left, "owner", parts_->self.node.text());
  audit::note(parts_->audit, parts_->ports.log, std::move(leaving));
}

Task<void> Node::join() {
  Parts& parts = *parts_;
  parts.group.cancel();
  co_await parts.group.join();
  if (parts.link) co_await parts.link->close();
  if (parts.runner) co_await parts.runner->close();
  co_await parts.audit.close();
  co_await parts.streams.close();
}

void Node::note_lock() {
  parts_->read_lock();
  if (parts_->is_locked && parts_->runner) parts_->runner->lock();
}

const wire::TaskSpec* Node::find_task(const TaskId& task) const {
  const auto* entry = parts_->ledger.find(task);
  return entry == nullptr ? nullptr : &entry->spec;
}

const ConsentBook& Node::consents() const { return parts_->book; }

Task<Result<void>> Node::answer(TaskId task, Answer answer, std::string by) {
  auto& parts = *parts_;
  if (!parts.journal) co_return fail(ErrorCode::unavailable, "the node is starting");
  OUTHAUL_CO_CHECK(co_await parts.make_durable(parts.consent.answer(task, answer, by)));
  if (parts.runner) parts.runner->note_answer(task);
  co_return Result<void>();
}

Task<Result<void>> Node::forget_answers() {
  auto& parts = *parts_;
  if (!parts.journal) co_return fail(ErrorCode::unavailable, "the node is starting");
  co_return co_await parts.make_durable(parts.consent.forget());
}

bool Node::is_locked() const { return parts_->is_locked; }

bool Node::is_attached() const { return parts_->link && parts_->link->is_attached(); }

std::uint32_t Node::running() const { return parts_->runner ? parts_->runner->running() : 0; }

}  // namespace outhaul::node
