#include "hub/nodes/node_registry.h"

#include <gtest/gtest.h>

#include "testing/seeded_random.h"

namespace outhaul::hub {
namespace {

class Registry : public ::testing::Test {
 protected:
  Registry() {
    store::NodeRow row;
    row.id = node;
    row.name = "alpha";
    registry.put(row);
  }
  void attach(bool is_locked) {
    v1::Hello hello;
    hello.set_slots(4);
    hello.set_locked(is_locked);
    hello.mutable_manifest()->add_isolation("trusted");
    registry.attach(node, {}, hello);
  }
  std::optional<ErrorCode> reason() {
    const auto waiting = why_not({}, {wire::IsolationLevel::trusted}, registry.find(node)->facts);
    return waiting ? std::optional(waiting->code) : std::nullopt;
  }

  testing::SeededRandom random{1};
  NodeId node = NodeId::make({}, random);
  NodeRegistry registry;
};

// proves C8
TEST_F(Registry, WhenANodeSaysThatItIsLocked_ThenNoTaskIsSentThereUntilItSaysOtherwise) {
  attach(true);
  EXPECT_EQ(reason(), ErrorCode::node_locked);

  v1::Load load;
  load.set_slots(4);
  registry.note_heartbeat(node, load, {});
  EXPECT_EQ(reason(), std::nullopt);
  load.set_locked(true);
  registry.note_heartbeat(node, load, {});
  EXPECT_EQ(reason(), ErrorCode::node_locked);
}

TEST_F(Registry, WhenANodeTellsItsQuestions_ThenTheLastListHoldsAndNothingThatIsTooMuch) {
  attach(false);
  v1::Questions questions;
  const auto first = TaskId::make({}, random);
  for (int i = 0; i < 100; ++i) {
    auto& question = *questions.add_question();
    question.set_task_id(i == 0 ? first.text() : TaskId::make({}, random).text());
    question.set_why(std::string(5000, 'x') + "\x1b[2J");
  }
  questions.add_question()->set_task_id("no id");

  registry.note_questions(node, questions);

  EXPECT_EQ(registry.find(node)->attachment->questions.size(), 64U);
  ASSERT_NE(registry.find_question(node, first), nullptr);
  EXPECT_LE(registry.find_question(node, first)->why().size(), 1024U);
  registry.note_questions(node, {});
  EXPECT_EQ(registry.find_question(node, first), nullptr);
}

}  // namespace
}  // namespace outhaul::hub
