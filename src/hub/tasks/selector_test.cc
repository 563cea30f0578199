#include "hub/tasks/selector.h"

#include <gtest/gtest.h>

namespace outhaul::hub {
namespace {

NodeFacts free_node(std::string id = "node_a", std::string name = "alpha") {
  NodeFacts node;
  node.id = NodeId::assume(std::move(id));
  node.name = std::move(name);
  node.pool = "default";
  node.labels = {{"gpu", "yes"}, {"os", "debian"}};
  node.isolation = {wire::IsolationLevel::trusted};
  node.is_attached = true;
  node.slots = 2;
  return node;
}

struct Row {
  std::string why;
  std::function<void(NodeFacts&)> change;
  ErrorCode code;
};

// proves X14
TEST(Selector, WhenANodeCannotTakeATask_ThenTheReasonIsNamed) {
  const Row rows[] = {
      {"another pool", [](auto& node) { node.pool = "batch"; }, ErrorCode::no_node_matches},
      {"another name", [](auto& node) { node.name = "beta"; }, ErrorCode::no_node_matches},
      {"a label missing", [](auto& node) { node.labels.erase("gpu"); }, ErrorCode::no_node_matches},
      {"a label differs", [](auto& node) { node.labels["gpu"] = "no"; }, ErrorCode::no_node_matches},
      {"plane not allowed", [](auto& node) { node.planes = {"tool"}; }, ErrorCode::target_unavailable},
      {"away", [](auto& node) { node.is_attached = false; }, ErrorCode::session_lost},
      {"draining", [](auto& node) { node.is_draining = true; }, ErrorCode::draining},
      {"no isolation", [](auto& node) { node.isolation = {}; }, ErrorCode::isolation_unavailable},
      {"no slots", [](auto& node) { node.slots = 0; }, ErrorCode::node_full},
      {"full", [](auto& node) { node.live_tasks = 2; }, ErrorCode::node_full},
      {"more than full", [](auto& node) { node.live_tasks = 3; }, ErrorCode::node_full},
      {"full by its word", [](auto& node) { node.is_full_by_its_word = true; }, ErrorCode::node_full},
  };
  const Selector selector{"alpha", "default", {{"gpu", "yes"}}};
  ASSERT_FALSE(why_not(selector, {wire::IsolationLevel::trusted}, free_node()).has_value());
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    auto node = free_node();
    row.change(node);

    const auto refusal = why_not(selector, {wire::IsolationLevel::trusted}, node);

    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->code, row.code);
    EXPECT_EQ(refusal->node, node.id);
    EXPECT_FALSE(refusal->reason.empty());
  }
}

TEST(Selector, WhenTheNodeOffersMoreIsolationThanAsked_ThenItMayRun) {
  auto node = free_node();
  node.isolation = {wire::IsolationLevel::oci};

  EXPECT_FALSE(why_not({}, {wire::IsolationLevel::native}, node).has_value());
  EXPECT_TRUE(why_not({}, {wire::IsolationLevel::vm}, node).has_value());
}

TEST(Selector, WhenNamedByIdOrName_ThenBothMeanTheNode) {
  EXPECT_TRUE(selects({"node_a", "", {}}, free_node()));
  EXPECT_TRUE(selects({"alpha", "", {}}, free_node()));
  EXPECT_FALSE(selects({"alph", "", {}}, free_node()));
}

TEST(LeastLoaded, WhenSharesDiffer_ThenTheSmallestWinsAndEqualOnesGoToTheLowerId) {
  struct Offer {
    std::string id;
    std::uint32_t live;
    std::uint32_t slots;
  };
  const std::pair<std::vector<Offer>, std::string> rows[] = {
      {{{"node_b", 1, 4}, {"node_a", 1, 2}}, "node_b"},
      {{{"node_a", 1, 2}, {"node_b", 1, 4}}, "node_b"},
      {{{"node_b", 0, 1}, {"node_a", 0, 8}}, "node_a"},
      {{{"node_a", 2, 4}, {"node_b", 1, 2}}, "node_a"},
      {{{"node_c", 3, 4}}, "node_c"},
  };
  for (const auto& [offers, best] : rows) {
    LeastLoaded choice;
    for (const auto& offer : offers) {
      auto node = free_node(offer.id);
      node.live_tasks = offer.live;
      node.slots = offer.slots;
      choice.offer(node);
    }

    ASSERT_TRUE(choice.best().has_value());
    EXPECT_EQ(choice.best()->text(), best);
  }
}

// proves X14
TEST(Selector, WhenNoNodeTakesATask_ThenTheLineNamesEachThatWasMeant) {
  const auto one = [](std::string name, ErrorCode code, std::string why) {
    return Waiting{NodeId::assume("node_" + name), name, code, std::move(why)};
  };
  const auto other = one("other", ErrorCode::no_node_matches, "the selector does not mean this node");
  const auto away = one("alpha", ErrorCode::session_lost, "it is not attached");
  const auto full = one("beta", ErrorCode::node_full, "it says that it has no room");
  const std::pair<std::vector<Waiting>, std::string> rows[] = {
      {{}, "no node is enrolled"},
      {{other}, "the selector means none of the enrolled nodes"},
      {{other, away}, "alpha: it is not attached"},
      {{away, full}, "alpha: it is not attached; beta: it says that it has no room"},
      {{full, full, full, full, full, away, away},
       "beta: it says that it has no room; beta: it says that it has no room; beta: it says that it has no "
       "room; "
       "beta: it says that it has no room; beta: it says that it has no room; and 2 more nodes"},
  };
  for (const auto& [reasons, text] : rows) EXPECT_EQ(waiting_text(reasons), text);
}

TEST(SelectorRow, WhenWrittenAndRead_ThenItIsTheSame) {
  const Selector rows[] = {{}, {"alpha", "", {}}, {"", "batch", {{"gpu", "a \"quoted\" one"}}}};
  for (const auto& selector : rows) {
    const auto read = parse_selector_row(selector_json(selector));

    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, selector);
  }
}

TEST(SelectorRow, WhenDamaged_ThenStoreCorrupt) {
  for (const std::string_view text : {"", "[]", "{", R"({"node":1})", R"({"other":"x"})"}) {
    SCOPED_TRACE(text);

    const auto read = parse_selector_row(text);

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::store_corrupt);
  }
}

}  // namespace
}  // namespace outhaul::hub
