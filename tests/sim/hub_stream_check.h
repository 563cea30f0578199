// HubStreamCheck: what the hub holds of every output stream is what the program wrote, at every moment; and
// what it has said that it holds, it holds after any crash.
#pragma once

#include <map>

#include "stream/stream_store.h"
#include "tests/sim/output_check.h"
#include "tests/sim/promise_book.h"
#include "tests/sim/sim_hub.h"

namespace outhaul::sim {

class HubStreamCheck {
 public:
  HubStreamCheck(const Stage& stage, const PromiseBook& promises) : stage_(stage), promises_(promises) {}

  void follow(const TaskId& task, const StreamId& stream);
  // The hub holds what a backup held: all of it is read again.
  void note_restore();
  // After each step. Cheap: reads what is new.
  void check(SimHub& hub);

 private:
  struct Followed {
    TaskId task;
    OutputCheck output;
    std::uint64_t life = 0;   // of the hub, when it was last looked at
    bool is_settled = false;  // its place is in the database and was checked
  };
  void check_stream(SimHub& hub, const StreamId& stream, Followed& followed);
  void check_kept(SimHub& hub, const StreamId& stream, const TaskId& task,
                  const stream::StreamTotals& totals);
  void check_settled(SimHub& hub, const StreamId& stream, Followed& followed, bool is_in_store);

  Stage stage_;
  const PromiseBook& promises_;
  std::map<StreamId, Followed> followed_;
  std::uint64_t seen_life_ = 0;
  std::uint64_t seen_activity_ = 0;
};

}  // namespace outhaul::sim
