// RefusalBudget: bounds how fast strangers can fill an audit log with what was refused to them. What is over
// the budget is counted, and the next entry that passes says how many were left out. A pure value.
#pragma once

#include <algorithm>

#include "audit/audit_log.h"
#include "base/clock.h"

namespace outhaul::audit {

class RefusalBudget {
 public:
  // An entry every `interval` in the long run, `burst` at once.
  explicit RefusalBudget(Duration interval = std::chrono::seconds(1), std::uint32_t burst = 100)
      : interval_(interval), burst_(burst) {}

  // Writes the entry down when there is budget for it.
  void note(AuditLog& audit, const Log& log, AuditEntry entry, TimePoint now) {
    // The moment at which everything spent so far is earned.
    earned_at_ = std::max(earned_at_, now);
    if (earned_at_ - now >= interval_ * burst_) {
      ++left_out_;
      return;
    }
    earned_at_ += interval_;
    if (left_out_ > 0) entry = std::move(entry).with("left_out_before", std::to_string(left_out_));
    left_out_ = 0;
    audit::note(audit, log, std::move(entry));
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  Duration interval_;
  std::uint32_t burst_;
  TimePoint earned_at_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace outhaul::audit
