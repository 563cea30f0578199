#include "tests/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/memory_tables.h"

namespace outhaul::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration active_span = 10min;
constexpr Duration errand_span = 9min;
// Queues, back-offs and the longest programs are over long before.
constexpr Duration settling_limit = 30min;

}  // namespace

Simulation::Simulation(const SimAuthority& authority, std::uint64_t seed, Options options)
    : seed_(seed),
      random_(seed),
      trace_(world_, options.is_verbose),
      network_(world_, random_.below(UINT64_MAX)),
      deployment_(authority, random_.below(UINT64_MAX), 2 + random_.below(3)),
      programs_(world_, trace_, verdict_),
      audit_(verdict_),
      stage_{world_, network_, trace_, verdict_, deployment_, programs_, desk_, audit_},
      client_(stage_, random_.below(UINT64_MAX)),
      promises_(stage_, make_eyes(*this)),
      watch_(trace_, promises_),
      streams_(stage_, promises_),
      hub_(stage_, random_.below(UINT64_MAX), [this](const HubLife& life) { client_.attend(life); }),
      adversary_(stage_, promises_, random_.below(UINT64_MAX)) {
  network_.on_message = [this](const testing::SimMessage& message) { watch_.read(message); };
  build_nodes();
  faults_.emplace(stage_, random_.below(UINT64_MAX), hub_, nodes_, adversary_);
  faults_->on_restore = [this] { note_restore(); };
  programs_.on_start = [this](const NodeId& id) {
    for (const auto& node : nodes_) {
      if (node->identity().node() == id) faults_->tempt(Moment::program_started, node->name());
    }
  };
}

Simulation::~Simulation() = default;

PromiseBook::Eyes Simulation::make_eyes(Simulation& self) {
  PromiseBook::Eyes eyes;
  eyes.identity_of = [&self](const std::string& path) {
    const auto* node = self.find_node(path);
    return node == nullptr ? NodeId() : node->identity().node();
  };
  eyes.is_durable_on = [&self](const std::string& path, ByteView record) {
    return self.find_node(path)->has_durably(record);
  };
  eyes.on_moment = [&self](Moment moment, const Place& place) { self.faults_->tempt(moment, place.path); };
  eyes.on_task = [&self](const TaskId& task, const StreamId& stream) { self.streams_.follow(task, stream); };
  return eyes;
}

SimNode* Simulation::find_node(const std::string& path) const {
  const auto found = std::ranges::find(nodes_, path, [](const auto& node) { return node->name(); });
  return found == nodes_.end() ? nullptr : found->get();
}

void Simulation::note_restore() {
  for (const auto& [id, row] : hub_.tables().tasks.rows()) {
    if (hub_.saved_tables().tasks.find(id) == nullptr) ++forgotten_tasks_;
  }
  programs_.note_restore();
  audit_.note_restore(audit::hub_log_name(SimDeployment::name()));
  still_held_ = promises_.note_restore();
  streams_.note_restore();
  client_.note_restore(hub_.saved_tables());
}

// What a node held when its hub was replaced has come to an end that its node gave, or that somebody wished.
void Simulation::check_still_held() {
  for (const auto& [task, path] : still_held_) {
    if (is_removed(*find_node(path))) continue;
    const auto* row = hub_.tables().tasks.find(task);
    if (row == nullptr || row->error_code == name_of(ErrorCode::hub_restored)) {
      verdict_.fail(
          "what_nodes_hold_is_not_lost",
          fmt::format("{} of {} {}", task.text(), path, row == nullptr ? "has no row" : "was given up"));
    }
  }
}

void Simulation::build_nodes() {
  for (std::size_t i = 0; i < deployment_.nodes().size(); ++i) {
    SimNode::Config config;
    config.name = fmt::format("node-{}", i + 1);
    config.identity = &deployment_.nodes()[i];
    config.seed = random_.below(UINT64_MAX);
    config.slots = static_cast<std::uint32_t>(2 + random_.below(7));
    nodes_.push_back(std::make_unique<SimNode>(stage_, config));
    nodes_.back()->disk_faults().sync_latency = 4ms;
  }
}

void Simulation::plan_errands() {
  const auto count = 24 + random_.below(13);
  for (std::size_t i = 0; i < count; ++i) client_.plan(make_errand(i));
}

Errand Simulation::make_errand(std::size_t number) {
  Errand errand;
  errand.when = world_.now() + Duration(std::chrono::milliseconds(random_.below(errand_span / 1ms)));
  errand.order.owner = deployment_.account();
  if (random_.below(3) == 0)
    errand.order.selector.node = fmt::format("node-{}", 1 + random_.below(nodes_.size()));
  if (random_.below(2) == 0) errand.key = fmt::format("order-{}", number);
  errand.is_repeated = errand.key && random_.below(3) == 0;
  if (random_.below(6) == 0) errand.cancel_after = Duration(std::chrono::milliseconds(random_.below(30'000)));
  if (random_.below(8) == 0) errand.order.timeout = std::chrono::seconds(1 + random_.below(40));
  choose_program(errand, number);
  return errand;
}

void Simulation::choose_program(Errand& errand, std::size_t number) {
  const auto name = fmt::format("out=task-{}", number);
  const auto wait = [this](std::uint64_t most) { return fmt::format("wait={}ms", 1 + random_.below(most)); };
  std::vector<std::string> argv = {"program", name};
  const auto slowly = [&](int times) {
    for (int i = 0; i < times; ++i) {
      argv.push_back(wait(4000));
      argv.push_back(fmt::format("{}=line-{}", i % 3 == 2 ? "err" : "out", i));
    }
  };
  switch (random_.below(9)) {
    case 0: errand.order.action = wire::EchoAction{name}; return;
    case 1: break;
    case 2:
      argv.insert(argv.end(), {wait(2000), fmt::format("fill={}", 270'000 + random_.below(300'000))});
      break;
    case 3:
      argv.insert(argv.end(), {fmt::format("fill={}", 1 + random_.below(60'000)), wait(9000), "fill=5000"});
      break;
    case 4: slowly(12); break;
    case 5: argv.insert(argv.end(), {wait(3000), fmt::format("exit={}", 1 + random_.below(254))}); break;
    case 6: argv.insert(argv.end(), {"ignore-term", wait(40'000), "err=stubborn"}); break;
    case 7:
      errand.order.has_stdin = true;
      errand.input = random_.bytes(random_.below(120'000));
      argv.push_back("cat");
      break;
    default:
      slowly(5);
      argv.push_back(fmt::format("signal={}", 1 + random_.below(15)));
      break;
  }
  if (random_.below(6) == 0) argv[0] = SimOwner::asked_program;
  if (random_.below(24) == 0) argv[0] = SimOwner::denied_program;
  errand.order.action = wire::ArgvAction{std::move(argv)};
}

Outcome Simulation::run() {
  plan_errands();
  hub_.boot();
  for (auto& node : nodes_) world_.at(world_.now() + 1ms * random_.below(3000), [&node] { node->boot(); });
  faults_->plan(active_span);
  run_until(world_.now() + active_span);
  if (!verdict_.violation()) settle();
  return {.seed = seed_,
          .trace_hash = world_.trace_hash(),
          .steps = world_.steps(),
          .simulated = world_.now() - testing::SimWorld::start,
          .crashes = faults_->crashes(),
          .tasks = hub_.tables().tasks.rows().size() + forgotten_tasks_,
          .violation = verdict_.violation(),
          .last_lines = trace_.last_lines()};
}

void Simulation::run_until(TimePoint when) {
  while (!verdict_.violation() && world_.now() < when && world_.step()) streams_.check(hub_);
}

bool Simulation::is_settled() const {
  return client_.is_done() && std::ranges::all_of(nodes_, [this](const auto& node) {
           // What a removed node runs is nobody's any more; some of it waits for input for ever.
           return is_removed(*node) || (node->is_attached() && node->running_tasks() == 0);
         });
}

bool Simulation::is_removed(const SimNode& node) const {
  const auto* row = hub_.tables().nodes.find(node.identity().node());
  return row != nullptr && row->state == store::NodeState::removed;
}

std::string Simulation::list_unsettled() const {
  std::string list;
  for (const auto& errand : client_.errands()) {
    if (errand.is_done()) continue;
    list += " " + (errand.acknowledged ? errand.acknowledged->task.text() : errand.key.value_or("an order"));
  }
  for (const auto& node : nodes_) {
    if (is_removed(*node)) continue;
    if (!node->is_attached()) list += " " + node->name() + " is not attached";
    if (node->running_tasks() > 0) list += fmt::format(" {} runs {}", node->name(), node->running_tasks());
  }
  return list;
}

void Simulation::settle() {
  trace_.say("fault", "no more");
  faults_->heal();
  client_.tidy_up();
  const auto limit = world_.now() + settling_limit;
  while (!verdict_.violation() && world_.now() < limit && !is_settled()) run_until(world_.now() + 1s);
  if (verdict_.violation()) return;
  if (!is_settled()) return verdict_.fail("everything_ends", "still under way:" + list_unsettled());
  // Acknowledgements and rows that are still on their way.
  run_until(world_.now() + 30s);
  audit();
  check_ends();
  check_still_held();
  check_audit_logs();
}

void Simulation::audit() {
  if (hub_.serving() == nullptr) return verdict_.fail("everything_ends", "the hub does not serve");
  bool is_checked = false;
  hub_.with_life([&](const HubLife& life) {
    life.group.spawn([this, life, &is_checked] { return client_.audit_everything(life, is_checked); });
  });
  const auto limit = world_.now() + 1min;
  while (!is_checked && world_.now() < limit) run_until(world_.now() + 1s);
  if (!is_checked) verdict_.fail("everything_ends", "the last audit does not end");
}

// Everything that anybody was told of stands in the log of whoever told them.
void Simulation::check_audit_logs() {
  hub_.check_audit();
  const auto actions = hub_.audited_actions();
  const auto has = [&actions](const char* action, const std::string& subject) {
    const auto found = actions.find(action);
    return found != actions.end() && found->second.contains(subject);
  };
  for (const auto& [id, row] : hub_.tables().tasks.rows()) {
    const bool has_begin = has("task.submitted", id.text()) || has("task.adopted", id.text());
    if (!has_begin) verdict_.fail("acknowledged_is_audited", "the hub's log lacks the begin of " + id.text());
    if (!has("task.ended", id.text()))
      verdict_.fail("acknowledged_is_audited", "the hub's log lacks the end of " + id.text());
  }
  for (const auto& node : nodes_) {
    node->check_audit();
    const auto accepted = node->audited_actions()["task.accepted"];
    for (const auto& task : promises_.accepted(node->name())) {
      if (!accepted.contains(task.text()))
        verdict_.fail("acknowledged_is_audited", node->name() + " accepted unnoted: " + task.text());
    }
  }
}

void Simulation::check_ends() {
  for (const auto& node : nodes_) {
    if (is_removed(*node) && node->is_attached()) verdict_.fail("a_removed_node_stays_out", node->name());
  }
  for (const auto& [id, row] : hub_.tables().tasks.rows()) {
    if (!store::is_final(row.state)) {
      verdict_.fail("everything_ends", fmt::format("{} is {}", id.text(), store::name_of(row.state)));
    }
    const bool has_end =
        row.state != store::TaskState::finished || hub_.tables().streams.find(row.stream) != nullptr;
    if (!has_end) verdict_.fail("finished_is_complete", id.text() + " has no stream");
  }
}

}  // namespace outhaul::sim
