#include "wire/trace_context.h"

#include <gtest/gtest.h>

#include "testing/seeded_random.h"

namespace outhaul::wire {
namespace {

constexpr std::string_view sample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextParse, WhenItIsInOrder_ThenItRoundTrips) {
  const auto trace = TraceContext::parse(sample);

  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace->span_id(), "00f067aa0ba902b7");
  EXPECT_TRUE(trace->is_sampled());
  EXPECT_EQ(trace->text(), sample);
}

TEST(TraceContextParse, WhenALaterVersionSaysMore_ThenTheKnownPartIsRead) {
  const auto trace =
      TraceContext::parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-what-the-future");

  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->text(), sample);
}

TEST(TraceContextParse, WhenItIsAnythingElse_ThenItIsInvalid) {
  for (const std::string_view text : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
           "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
       }) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(TraceContext::parse(text).has_value());
  }
}

// proves B11
TEST(TraceContext, WhenWorkIsHandedOn_ThenTheTraceStaysAndTheSpanChanges) {
  testing::SeededRandom random(1);
  const auto trace = TraceContext::make(random);
  const auto child = trace.child(random);

  EXPECT_EQ(child.trace_id(), trace.trace_id());
  EXPECT_NE(child.span_id(), trace.span_id());
  EXPECT_EQ(TraceContext::parse(child.text()).value(), child);
}

}  // namespace
}  // namespace outhaul::wire
