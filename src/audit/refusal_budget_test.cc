#include "audit/refusal_budget.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"
#include "testing/memory_audit.h"

namespace outhaul::audit {
namespace {

using namespace std::chrono_literals;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

TEST(RefusalBudget, WhenAStrangerFloods_ThenTheLogGrowsAtItsPaceAndSaysWhatIsMissing) {
  testing::ManualClock clock;
  testing::MemoryAudit audit;
  NoSink sink;
  const Log log("test", clock, sink);
  RefusalBudget budget(1s, 10);
  const auto refuse = [&](int times) {
    for (int i = 0; i < times; ++i)
      budget.note(audit, log, AuditEntry(AuditAction::request_refused, "", "198.51.100.7"), clock.now());
  };

  refuse(1000);

  EXPECT_EQ(audit.entries.size(), 10U);
  EXPECT_EQ(budget.left_out(), 990U);
  clock.advance(2s);
  refuse(1000);
  EXPECT_EQ(audit.entries.size(), 12U);
  EXPECT_EQ(audit.entries[10].fields.back(), (AuditField{"left_out_before", "990"}));
  clock.advance(1h);
  refuse(1000);
  EXPECT_EQ(audit.entries.size(), 22U);
}

}  // namespace
}  // namespace outhaul::audit
