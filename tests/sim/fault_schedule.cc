#include "tests/sim/fault_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hub/nodes/node_service.h"
#include "hub/nodes/renewal.h"

namespace outhaul::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds most_skew = 17min;
constexpr int least_crashes = 3;
// One in so many promises is fatal to who makes it.
constexpr std::uint64_t temptation_one_in = 60;
constexpr int most_crashes_by_temptation = 4;
// A copied identity is tried while nothing else goes wrong: a hub that cannot reach the original takes the
// copy.
constexpr Duration copy_span = 17s;

}  // namespace

struct FaultSchedule::Kind {
  std::string_view name;
  unsigned weight;
  void (FaultSchedule::*run)();
};

const std::vector<FaultSchedule::Kind>& FaultSchedule::kinds() {
  static const std::vector<Kind> all = {
      {"kill hub", 3, &FaultSchedule::kill_hub},
      {"kill node", 4, &FaultSchedule::kill_node},
      {"kill both", 1, &FaultSchedule::kill_both},
      {"kill launcher", 1, &FaultSchedule::kill_launcher},
      {"restart hub", 1, &FaultSchedule::restart_hub},
      {"restart node", 2, &FaultSchedule::restart_node},
      {"cut", 6, &FaultSchedule::cut},
      {"silence", 4, &FaultSchedule::silence},
      {"slow network", 3, &FaultSchedule::slow_network},
      {"slow node disk", 3, &FaultSchedule::slow_node_disk},
      {"slow hub disk", 2, &FaultSchedule::slow_hub_disk},
      {"full node disk", 2, &FaultSchedule::fill_node_disk},
      {"broken node disk", 1, &FaultSchedule::break_node_disk},
      {"broken database", 2, &FaultSchedule::break_database},
      {"node clock", 3, &FaultSchedule::step_node_clock},
      {"hub clock", 1, &FaultSchedule::step_hub_clock},
      {"intercept", 4, &FaultSchedule::intercept},
      {"lock", 2, &FaultSchedule::lock_node},
      {"change program", 3, &FaultSchedule::change_program},
      {"copy identity", 2, &FaultSchedule::copy_identity},
  };
  return all;
}

FaultSchedule::FaultSchedule(const Stage& stage, std::uint64_t seed, SimHub& hub, Nodes& nodes,
                             Adversary& adversary)
    : stage_(stage), random_seed_(seed), random_(seed), hub_(hub), nodes_(nodes), adversary_(adversary) {
  for (auto& node : nodes_) {
    if (random_.below(3) == 0) node->set_skew(draw(0s, 2 * most_skew) - most_skew);
  }
}

Duration FaultSchedule::draw(Duration least, Duration most) {
  return least + Duration(static_cast<Duration::rep>(
                     random_.below(static_cast<std::uint64_t>((most - least).count()) + 1)));
}

template <class Action>
void FaultSchedule::later(Duration after, Action action) {
  stage_.world.at(stage_.world.now() + after, std::move(action));
}

void FaultSchedule::plan(Duration span) {
  for (int i = 0; i < least_crashes; ++i) {
    later(draw(10s, span - 1min), [this] { crash_for_sure(); });
  }
  // Drawn apart, so that a seed's other faults stay what they were.
  testing::SeededRandom extra(random_seed_ ^ 0x5d15c);
  if (extra.below(4) == 0) {
    const auto when = 10s + Duration(1s) * extra.below(static_cast<std::uint64_t>(span / Duration(1s)) - 10);
    later(when, [this] {
      if (!is_shielded()) break_hub_disk();
    });
  }
  plan_identities(span);
  plan_restore(span);
  const auto others = 12 + random_.below(24);
  for (std::uint64_t i = 0; i < others; ++i) {
    later(draw(5s, span), [this] {
      if (!is_shielded()) run_one();
    });
  }
}

void FaultSchedule::plan_identities(Duration span) {
  testing::SeededRandom extra(random_seed_ ^ 0x1de47);
  const auto draw_time = [&] {
    return 10s + Duration(1s) * extra.below(static_cast<std::uint64_t>(span / Duration(1s)) - 10);
  };
  if (extra.below(3) == 0) later(draw_time(), [this] { rotate_node(); });
  const auto removal = draw_time();
  if (nodes_.size() > 2 && extra.below(4) == 0) later(removal, [this] { remove_node(); });
}

// The hub's machine is lost, and another one goes on from a backup that is seconds or minutes old.
void FaultSchedule::plan_restore(Duration span) {
  testing::SeededRandom extra(random_seed_ ^ 0xbac0b);
  if (extra.below(4) != 0) return;
  is_hub_restored_ = true;
  const auto draw_seconds = [&extra](Duration most) {
    return Duration(1s) * extra.below(static_cast<std::uint64_t>(most / Duration(1s)));
  };
  const auto backup = 10s + draw_seconds(span - 2min);
  const auto copying = Duration(1ms) * extra.below(3000);
  const bool is_soon = extra.below(2) == 0;
  const auto age = is_soon ? draw_seconds(20s) : draw_seconds(span - 1min - backup);
  // What is queued or on its way just then is what a restore knows least of.
  later(backup, [this, copying, age, waits = extra.below(3) != 0] {
    backup_due_ = [this, copying, age] { back_up(copying, age); };
    if (!waits) std::exchange(backup_due_, nullptr)();
  });
}

// Rows first, files a moment later, as beside a hub that serves.
void FaultSchedule::back_up(Duration copying, Duration age) {
  stage_.trace.say("fault", "backup");
  hub_.save_rows();
  later(copying, [this] { hub_.save_files(); });
  later(copying + 1s + age, [this] { restore_hub(); });
}

void FaultSchedule::restore_hub() {
  if (is_over_) return;
  if (is_shielded()) return later(5s, [this] { restore_hub(); });
  ++crashes_;
  on_restore();
  hub_.restore();
  if (is_node_removed_) later(1s, [this] { remove_again(); });
}

// As the operator does who looks at what holds again.
void FaultSchedule::remove_again() {
  const auto* row = hub_.tables().nodes.find(nodes_.back()->identity().node());
  if (row->state == store::NodeState::removed) return;
  if (hub_.serving() != nullptr) remove_node();
  later(3s, [this] { remove_again(); });
}

void FaultSchedule::rotate_node() {
  const auto node = nodes_.front()->identity().node().text();
  stage_.trace.say("fault", "rotation");
  hub_.with_life([&node](const HubLife& life) {
    auto ask = [hub = &life.hub, node]() -> Task<void> {
      static_cast<void>(co_await hub->renewal().rotate(node));
    };
    life.group.spawn(std::move(ask));
  });
}

// In the middle of whatever it runs. Whether the removal is done decides the database.
void FaultSchedule::remove_node() {
  is_node_removed_ = true;
  const auto& node = nodes_.back()->identity().node();
  stage_.trace.say("fault", "removal");
  stage_.programs.note_removal(node);
  hub_.with_life([&node](const HubLife& life) {
    auto remove = [hub = &life.hub, id = node.text()]() -> Task<void> {
      static_cast<void>(co_await hub->nodes().remove(id));
    };
    life.group.spawn(std::move(remove));
  });
}

void FaultSchedule::run_one() {
  const auto& all = kinds();
  const auto total = std::accumulate(all.begin(), all.end(), 0U,
                                     [](unsigned sum, const Kind& kind) { return sum + kind.weight; });
  auto drawn = random_.below(total);
  for (const auto& kind : all) {
    if (drawn < kind.weight) {
      stage_.trace.say("fault", kind.name);
      return (this->*kind.run)();
    }
    drawn -= kind.weight;
  }
}

void FaultSchedule::tempt(Moment moment, const std::string& path) {
  if (moment == Moment::task_sent && backup_due_) std::exchange(backup_due_, nullptr)();
  if (is_shielded() || random_.below(temptation_one_in) != 0 ||
      crashes_ >= least_crashes + most_crashes_by_temptation)
    return;
  const auto node = std::ranges::find(nodes_, path, [](const auto& one) { return one->name(); });
  const bool is_hub = moment == Moment::task_sent || moment == Moment::stream_held || node == nodes_.end();
  const auto death = draw_death();
  later(draw(0ms, 3ms), [this, is_hub, death, victim = is_hub ? nullptr : node->get()] {
    if (is_shielded()) return;
    if (is_hub) return crash_hub(death);
    crash_node(*victim, death);
  });
}

void FaultSchedule::crash_hub(Death death) {
  if (is_shielded() || !hub_.is_running()) return;
  ++crashes_;
  hub_.crash(death);
  later(random_.below(4) == 0 ? draw(20s, 100s) : draw(100ms, 10s), [this] { hub_.boot(); });
}

void FaultSchedule::crash_node(SimNode& node, Death death) {
  if (is_shielded() || !node.is_running()) return;
  ++crashes_;
  node.crash(death);
  later(random_.below(4) == 0 ? draw(20s, 100s) : draw(100ms, 10s), [&node] { node.boot(); });
}

// Whoever should die may be dead, or under a shield: then a little later.
void FaultSchedule::crash_for_sure() {
  const int before = crashes_;
  random_.below(3) == 0 ? kill_hub() : kill_node();
  if (crashes_ == before && !is_over_) later(1s, [this] { crash_for_sure(); });
}

void FaultSchedule::kill_both() {
  crash_node(draw_node(), draw_death());
  crash_hub(draw_death());
}

void FaultSchedule::kill_launcher() { draw_node().crash_launcher(); }

void FaultSchedule::restart_hub() { hub_.restart_in_order(); }

void FaultSchedule::restart_node() { draw_node().restart_in_order(draw(0s, 20s)); }

void FaultSchedule::cut() { stage_.network.cut(draw_node().name()); }

void FaultSchedule::silence() {
  const auto& name = draw_node().name();
  stage_.network.set_silent(name,
                            random_.below(2) == 0 ? testing::SimSilence::hold : testing::SimSilence::swallow);
  later(draw(500ms, 90s), [this, name] { stage_.network.end_silence(name); });
}

void FaultSchedule::slow_network() {
  const auto& name = draw_node().name();
  const auto least = draw(5ms, 300ms);
  stage_.network.set_delays(name, {.least = least, .most = 2 * least, .spike_one_in = 30});
  later(draw(5s, 60s), [this, name] { stage_.network.set_delays(name, {}); });
}

void FaultSchedule::slow_node_disk() {
  auto& node = draw_node();
  node.disk_faults().sync_latency = draw(20ms, 1500ms);
  node.apply_faults();
  later(draw(5s, 40s), [&node] {
    node.disk_faults().sync_latency = 4ms;
    node.apply_faults();
  });
}

void FaultSchedule::slow_hub_disk() {
  hub_.disk_faults().sync_latency = draw(20ms, 1500ms);
  hub_.apply_faults();
  later(draw(5s, 40s), [this] {
    hub_.disk_faults().sync_latency = 4ms;
    hub_.apply_faults();
  });
}

void FaultSchedule::fill_node_disk() {
  auto& node = draw_node();
  node.fill_disk();
  later(draw(1s, 40s), [&node] { node.empty_disk(); });
}

// The node gives up, and is started again on a disk that works.
void FaultSchedule::break_node_disk() {
  auto& node = draw_node();
  node.disk_faults().fail_syncs = true;
  node.apply_faults();
  later(draw(100ms, 5s), [&node] {
    node.disk_faults().fail_syncs = false;
    node.apply_faults();
  });
}

// The hub gives up, and is started again on a disk that works.
void FaultSchedule::break_hub_disk() {
  stage_.trace.say("fault", "broken hub disk");
  hub_.disk_faults().fail_syncs = true;
  hub_.apply_faults();
  later(2s, [this] {
    hub_.disk_faults().fail_syncs = false;
    hub_.apply_faults();
  });
}

void FaultSchedule::break_database() {
  if (hub_.database() == nullptr) return;
  hub_.database()->set_fault(random_.below(2) == 0 ? ErrorCode::disk_full : ErrorCode::unavailable);
  later(draw(100ms, 15s), [this] {
    if (hub_.database() != nullptr) hub_.database()->set_fault(std::nullopt);
  });
}

void FaultSchedule::step_node_clock() { draw_node().set_skew(draw(0s, 2 * most_skew) - most_skew); }

// A hub that is restored keeps its clock: one that is behind could not say that what was signed later is
// void.
void FaultSchedule::step_hub_clock() {
  if (is_hub_restored_) return;
  hub_skew_ = draw(0s, 2 * most_skew) - most_skew;
  hub_clock_stepped_at_ = stage_.world.now();
  hub_.set_skew(hub_skew_);
}

void FaultSchedule::intercept() {
  const auto at = random_.below(nodes_.size());
  auto& node = *nodes_[at];
  const Adversary::Victim victim{.path = node.name(),
                                 .node = node.identity().node(),
                                 .other_node = nodes_[(at + 1) % nodes_.size()]->identity().node(),
                                 .hub_time = hub_.wall_now(),
                                 .hub_skew = hub_skew_,
                                 .is_hub_clock_steady = stage_.world.now() > hub_clock_stepped_at_ + 1min};
  adversary_.intercept(victim, draw(3s, 20s));
  stage_.network.cut(node.name());
}

void FaultSchedule::lock_node() {
  auto& node = draw_node();
  node.lock();
  // What a lock must outlive.
  if (random_.below(3) == 0) later(draw(0s, 2s), [this, &node] { crash_node(node, draw_death()); });
  later(draw(2s, 60s), [&node] { node.unlock(); });
}

// Often: it matters only between a question and the start.
void FaultSchedule::change_program() {
  auto& node = draw_node();
  for (int i = 0; i < 5; ++i) later(draw(0s, 60s), [&node] { node.change_program(); });
}

// Hub and node both think so, and can talk.
bool FaultSchedule::is_well(const SimNode& node) const {
  if (hub_.serving() == nullptr || !node.is_attached() || !stage_.network.does_pass(node.name()))
    return false;
  const auto record = hub_.serving()->nodes().find(node.identity().node().text());
  return record && (*record)->attachment.has_value();
}

// Somebody starts a copy of a node's directory while the node is well.
void FaultSchedule::copy_identity() {
  auto& original = draw_node();
  if (copy_ || !is_well(original)) return;
  shielded_until_ = stage_.world.now() + copy_span;
  const auto name = original.name() + "b";
  copy_ = std::make_unique<SimNode>(
      stage_, SimNode::Config{name, &original.identity(), random_.below(UINT64_MAX), 8});
  copy_->copy_disk_of(original);
  // The original must be able to answer in time: what is still on its way has arrived before the copy dials.
  stage_.network.set_calm(original.name(), true);
  later(5s, [this] { copy_->boot(); });
  for (Duration after = 6s; after < copy_span - 1s; after += 1s)
    later(after, [this, &original] { check_copy(original); });
  later(copy_span - 500ms, [this, &original] {
    stage_.network.set_calm(original.name(), false);
    copy_->crash(Death::no_power);
    copy_.reset();
  });
}

void FaultSchedule::check_copy(SimNode& original) {
  if (!copy_ || !copy_->is_attached()) return;
  // Only while the original could answer was there a duplicate to refuse.
  stage_.verdict.fail("a_copied_identity_is_refused",
                      copy_->name() + " is attached beside " + original.name());
}

void FaultSchedule::heal() {
  is_over_ = true;
  for (auto& node : nodes_) {
    node->disk_faults() = {.sync_latency = 4ms};
    node->apply_faults();
    node->empty_disk();
    node->unlock();
    stage_.network.end_silence(node->name());
    stage_.network.set_delays(node->name(), {.spike_one_in = 1000});
    adversary_.leave(node->name());
    node->boot();
  }
  hub_.disk_faults() = {.sync_latency = 4ms};
  hub_.apply_faults();
  if (hub_.database() != nullptr) hub_.database()->set_fault(std::nullopt);
  hub_.boot();
}

}  // namespace outhaul::sim
