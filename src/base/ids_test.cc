#include "base/ids.h"

#include <gtest/gtest.h>

#include <string>

namespace outhaul {
namespace {

// Gives one byte again and again.
class SameByte final : public Random {
 public:
  explicit SameByte(char byte) : byte_(byte) {}
  Bytes bytes(std::size_t count) override { return Bytes(count, byte_); }

 private:
  char byte_;
};

constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;

TEST(Id, WhenMade_ThenItIsAUlidOfTimeAndRandomBits) {
  SameByte ones('\xff');
  // The example of the ULID specification: 1469918176385 ms is 01ARYZ6S41.
  const WallTime now{1'469'918'176'385 * nanoseconds_per_millisecond};

  const auto id = TaskId::make(now, ones);

  EXPECT_EQ(id.text(), "task_01aryz6s41zzzzzzzzzzzzzzzz");
}

TEST(Id, WhenMadeLater_ThenItSortsLater) {
  SameByte ones('\xff');
  SameByte zeros('\0');

  const auto first = TaskId::make({5 * nanoseconds_per_millisecond}, ones);
  const auto second = TaskId::make({6 * nanoseconds_per_millisecond}, zeros);

  EXPECT_LT(first, second);
}

TEST(Id, WhenParsedFromItsOwnText_ThenItIsEqual) {
  SameByte bytes('\x5a');
  const auto id = NodeId::make({nanoseconds_per_millisecond}, bytes);

  const auto parsed = NodeId::parse(id.text());

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, id);
}

TEST(IdParse, WhenTextIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  struct Row {
    const char* reason;
    std::string text;
  };
  const Row rows[] = {
      {"empty", ""},
      {"prefix alone", "node_"},
      {"another kind", "task_01aryz6s41zzzzzzzzzzzzzzzz"},
      {"no underscore", "node01aryz6s41zzzzzzzzzzzzzzzzz"},
      {"one short", "node_01aryz6s41zzzzzzzzzzzzzzz"},
      {"one long", "node_01aryz6s41zzzzzzzzzzzzzzzzz"},
      {"more than 128 bits", "node_81aryz6s41zzzzzzzzzzzzzzzz"},
      {"upper case", "node_01ARYZ6S41ZZZZZZZZZZZZZZZZ"},
      {"letter u", "node_01aryz6s41zzzzzzzzzzzzzzzu"},
      {"letter i", "node_01aryz6s41zzzzzzzzzzzzzzzi"},
      {"path", "node_../../../../../etc/passwd0"},
      {"NUL", std::string("node_01aryz6s41zzzzzzzzzzzzzzz\0", 31)},
      {"not ASCII", "node_01aryz6s41zzzzzzzzzzzzzz\xc3\xa9"},
      {"line end", "node_01aryz6s41zzzzzzzzzzzzzzz\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);

    const auto id = NodeId::parse(row.text);

    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error().code(), ErrorCode::invalid);
    EXPECT_EQ(id.error().what(), "node id: not of the form node_ and 26 base32 characters");
  }
}

}  // namespace
}  // namespace outhaul
