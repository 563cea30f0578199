#include "cli/waiting.h"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

namespace outhaul::cli {
namespace {

std::string text_of(const char* task) {
  std::string text;
  for (const auto& line : waiting_lines(boost::json::parse(task))) text += line + "\n";
  return text;
}

// proves X14
TEST(WaitingLines, WhenItWaitsForANode_ThenTheySayWhyAndWhatToDo) {
  struct Row {
    const char* task;
    std::vector<std::string> said;
  };
  const Row rows[] = {
      {R"({"state":"queued","queue_deadline":"2026-01-02T03:04:05Z","waiting":[
           {"node_name":"alpha","code":"draining","reason":"it is draining"},
           {"node_name":"beta","code":"session_lost","reason":"it is not attached"},
           {"node_name":"gamma","code":"no_node_matches","reason":"the selector does not mean this node"}]})",
       {"alpha: it is draining; `outhaul node drain --undo alpha`", "beta: it is not attached; start",
        "it waits until 2026-01-02T03:04:05Z (--queue-timeout); Ctrl-C"}},
      {R"({"state":"queued","waiting":[{"node_name":"a","code":"no_node_matches","reason":"r"}]})",
       {"none is what was asked for; `outhaul node list`"}},
      {R"({"state":"queued","waiting":[]})", {"none is enrolled; `outhaul node token create`"}},
      {R"({"state":"dispatched","node_name":"al\u001bpha","waiting":[]})",
       {"sent to node al?pha, which has not answered"}},
  };
  for (const auto& [task, said] : rows) {
    const auto text = text_of(task);

    for (const auto& part : said) EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find("gamma"), std::string::npos);
  }
}

TEST(WaitingLines, WhenThereIsNothingToWaitFor_ThenThereAreNone) {
  for (const auto* task : {R"({"state":"accepted","waiting":[]})", R"({"state":"finished"})",
                           R"({"state":"queued"})", R"({"state":"queued","waiting":3})", "[]", "null"}) {
    EXPECT_EQ(text_of(task), "") << task;
  }
}

TEST(WaitingLines, WhenManyNodesHoldIt_ThenTheFirstAreNamed) {
  boost::json::array waiting;
  for (int i = 0; i < 8; ++i)
    waiting.push_back({{"node_name", "n" + std::to_string(i)}, {"code", "node_full"}, {"reason", "full"}});

  const auto lines = waiting_lines(boost::json::object{{"state", "queued"}, {"waiting", waiting}});

  EXPECT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[6], "  and 3 more");
}

}  // namespace
}  // namespace outhaul::cli
