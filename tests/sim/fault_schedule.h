// FaultSchedule: everything that goes wrong in one seed, and when. Some faults come at times that the seed
// drew; some crashes come at the very moments at which a promise is made.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/sim/adversary.h"
#include "tests/sim/promise_book.h"
#include "tests/sim/sim_hub.h"
#include "tests/sim/sim_node.h"

namespace outhaul::sim {

class FaultSchedule {
 public:
  using Nodes = std::vector<std::unique_ptr<SimNode>>;
  FaultSchedule(const Stage& stage, std::uint64_t seed, SimHub& hub, Nodes& nodes, Adversary& adversary);

  // Posts the faults between now and now + span; at least three crashes of processes are among them.
  void plan(Duration span);
  // A promise is being made: sometimes the one who makes it dies just then.
  void tempt(Moment moment, const std::string& path);
  // Every fault ends and every machine is up; nothing goes wrong any more.
  void heal();
  int crashes() const { return crashes_; }
  // Called right before the hub is replaced by one that was restored from what it saved.
  std::function<void()> on_restore;

 private:
  struct Kind;
  static const std::vector<Kind>& kinds();

  template <class Action>
  void later(Duration after, Action action);
  SimNode& draw_node() { return *nodes_[random_.below(nodes_.size())]; }
  Duration draw(Duration least, Duration most);
  bool is_shielded() const { return is_over_ || stage_.world.now() < shielded_until_; }
  void run_one();

  void crash_for_sure();
  void crash_hub(Death death);
  void crash_node(SimNode& node, Death death);
  Death draw_death() { return random_.below(2) == 0 ? Death::killed : Death::no_power; }
  // The kinds.
  void kill_hub() { crash_hub(draw_death()); }
  void kill_node() { crash_node(draw_node(), draw_death()); }
  void kill_both();
  void kill_launcher();
  void restart_hub();
  void restart_node();
  void cut();
  void silence();
  void slow_network();
  void slow_node_disk();
  void slow_hub_disk();
  void fill_node_disk();
  void break_node_disk();
  void break_hub_disk();
  void break_database();
  void step_node_clock();
  void step_hub_clock();
  void intercept();
  void lock_node();
  void change_program();
  bool is_well(const SimNode& node) const;
  // Drawn apart from the kinds.
  void plan_identities(Duration span);
  void rotate_node();
  void remove_node();
  void plan_restore(Duration span);
  void back_up(Duration copying, Duration age);
  void restore_hub();
  void remove_again();
  void copy_identity();
  void check_copy(SimNode& original);

  Stage stage_;
  std::uint64_t random_seed_;
  testing::SeededRandom random_;
  SimHub& hub_;
  Nodes& nodes_;
  Adversary& adversary_;
  std::unique_ptr<SimNode> copy_;
  std::chrono::nanoseconds hub_skew_{};
  TimePoint hub_clock_stepped_at_{};
  TimePoint shielded_until_{};
  bool is_over_ = false;
  bool is_hub_restored_ = false;  // once in this seed
  bool is_node_removed_ = false;
  std::function<void()> backup_due_;  // when the next task is sent
  int crashes_ = 0;
};

}  // namespace outhaul::sim
