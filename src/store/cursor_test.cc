#include "store/cursor.h"

#include <gtest/gtest.h>

#include "store/task_store.h"

namespace outhaul::store {
namespace {

TEST(Cursor, WhenItWasMadeHere_ThenItGivesItsTextBack) {
  for (const std::string text : {"t", "ta", "tas", "task_01arz3ndektsv4rrffq69g5fav", "\xff\xfe?>"}) {
    const auto cursor = make_cursor(text);

    EXPECT_EQ(parse_cursor(cursor), text);
    EXPECT_EQ(cursor.find_first_of("+/=?&%"), std::string::npos);
  }
}

TEST(Cursor, WhenItWasNotMadeHere_ThenItIsRefused) {
  const std::vector<std::string> hostile = {
      "",    "A",    "dA=",  "dA==",  "dB",  // not the zeros of the end
      "d A", "dA\n", "d+/A", "ta sk", "\xff", std::string("d\0A", 3), "dAAAA", std::string(97, 'A')};
  for (const auto& text : hostile) {
    SCOPED_TRACE(text);
    EXPECT_EQ(parse_cursor(text), std::nullopt);
  }
}

TEST(TaskState, WhenItIsNamed_ThenTheNameLeadsBack) {
  for (int i = 0; i <= static_cast<int>(TaskState::lost); ++i) {
    const auto state = static_cast<TaskState>(i);
    EXPECT_EQ(find_task_state(name_of(state)), state);
    EXPECT_EQ(is_final(state), i >= 4);
  }
  EXPECT_EQ(find_task_state("Queued"), std::nullopt);
  EXPECT_EQ(find_task_state(""), std::nullopt);
}

}  // namespace
}  // namespace outhaul::store
