// Simulation: one seed. A hub, two to four nodes, people, an adversary and everything that goes wrong, for at
// least ten simulated minutes; then all faults end, and everything must come to its end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/fault_schedule.h"
#include "tests/sim/hub_stream_check.h"
#include "tests/sim/sim_client.h"

namespace outhaul::sim {

struct Outcome {
  std::uint64_t seed = 0;
  std::uint64_t trace_hash = 0;
  std::uint64_t steps = 0;
  Duration simulated{};
  int crashes = 0;
  std::size_t tasks = 0;
  std::optional<Verdict::Violation> violation;
  std::vector<std::string> last_lines;
};

class Simulation {
 public:
  struct Options {
    bool is_verbose = false;
  };
  // `authority` outlives it. To be run once.
  Simulation(const SimAuthority& authority, std::uint64_t seed, Options options);
  ~Simulation();

  Outcome run();

 private:
  static PromiseBook::Eyes make_eyes(Simulation& self);
  void build_nodes();
  void plan_errands();
  Errand make_errand(std::size_t number);
  void choose_program(Errand& errand, std::size_t number);
  void run_until(TimePoint when);
  bool is_settled() const;
  bool is_removed(const SimNode& node) const;
  std::string list_unsettled() const;
  void settle();
  void audit();
  void check_ends();
  void note_restore();
  void check_still_held();
  void check_audit_logs();
  SimNode* find_node(const std::string& path) const;

  std::uint64_t seed_;
  testing::SeededRandom random_;
  testing::SimWorld world_;
  SimTrace trace_;
  Verdict verdict_;
  testing::SimNetwork network_;
  SimDeployment deployment_;
  ProgramBook programs_;
  RenewalDesk desk_;
  AuditBook audit_;
  Stage stage_;
  SimClient client_;
  PromiseBook promises_;
  WireWatch watch_;
  HubStreamCheck streams_;
  SimHub hub_;
  FaultSchedule::Nodes nodes_;
  Adversary adversary_;
  std::optional<FaultSchedule> faults_;
  std::size_t forgotten_tasks_ = 0;           // of the backup that the hub was restored from
  std::map<TaskId, std::string> still_held_;  // when the hub was restored, and by which node
};

}  // namespace outhaul::sim
