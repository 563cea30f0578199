// Adversary: one who has got between a node and its hub. It captures what is sent, plays the hub towards the
// node for a while, and offers tasks that must not start: unsigned, signed by another, changed, for another
// node, expired, from the future, and genuine ones that were captured before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/promise_book.h"
#include "tests/sim/stage.h"

namespace outhaul::sim {

class Adversary {
 public:
  struct Victim {
    std::string path;
    NodeId node;
    NodeId other_node;
    WallTime hub_time;
    std::chrono::nanoseconds hub_skew{};
    // Without it the hub's clock was stepped lately and nobody can say what is expired.
    bool is_hub_clock_steady = true;
  };
  Adversary(const Stage& stage, PromiseBook& promises, std::uint64_t seed);
  ~Adversary();

  // From now on, for `span`, the node's new connections reach the adversary. Whoever calls cuts the old one.
  void intercept(const Victim& victim, Duration span);
  void leave(const std::string& path) { stage_.network.route(path, "hub"); }

 private:
  struct Visit;
  std::vector<Bytes> prepare(const Victim& victim);
  // Empty: this kind has none now.
  std::optional<Bytes> forge(const Victim& victim, int kind);
  wire::TaskSpec make_spec(const Victim& victim);
  Bytes sign(const wire::TaskSpec& spec) const;
  void take(std::unique_ptr<transport::Carrier> carrier);
  Task<void> attack(std::unique_ptr<transport::Carrier> carrier);
  Task<void> offer_all(Visit& visit);

  Stage stage_;
  PromiseBook& promises_;
  testing::SeededRandom random_;
  crypto::SigningKey own_key_;
  std::shared_ptr<testing::SimProcess> process_;
  std::map<NodeId, std::vector<Bytes>> offers_;
  TaskGroup group_;
};

}  // namespace outhaul::sim
