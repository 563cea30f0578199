#include "cli/signed_request.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "testing/manual_clock.h"
#include "testing/seeded_random.h"

namespace outhaul::cli {
namespace {

using namespace std::chrono_literals;

class SignedRequest : public ::testing::Test {
 protected:
  SignedRequest() {
    facts.deployment = "example.org";
    facts.now = testing::ManualClock::default_start;
    facts.account = AccountId::make(facts.now, random);
    facts.node = NodeId::make(facts.now, random);
    facts.nonce = random.bytes(wire::task_nonce_bytes);
  }
  json::array nodes(std::string_view text) const { return json::parse(text).as_array(); }

  testing::SeededRandom random{17};
  OrderFacts facts;
  RunOptions options;
};

// proves C6
TEST_F(SignedRequest, WhenEverythingIsTyped_ThenTheOrderHasItAll) {
  options.argv = {"echo", "a b", ""};
  options.node = "alpha";
  options.environment = {"A=b=c"};
  options.directory = "sub";
  options.timeout = "30s";
  options.queue_timeout = "1h";
  options.has_stdin = true;
  facts.node_name = "alpha";

  const auto order = order_of(task_fields(options).value(), facts);

  ASSERT_TRUE(order.has_value());
  const auto& task = order->task;
  EXPECT_EQ(task.action, wire::TaskAction(wire::ArgvAction{{"echo", "a b", ""}}));
  EXPECT_EQ(task.env, (std::vector<wire::EnvVar>{{"A", "b=c"}}));
  EXPECT_EQ(task.cwd, "sub");
  EXPECT_EQ(task.timeout, std::chrono::nanoseconds(30s));
  EXPECT_EQ(task.expires_at, facts.now + 1h + 5min);
  EXPECT_EQ(task.audience, facts.node);
  EXPECT_EQ(task.owner, facts.account);
  EXPECT_EQ(task.nonce, facts.nonce);
  EXPECT_TRUE(task.is_interactive);
  EXPECT_TRUE(order->has_stdin);
  EXPECT_EQ(order->node_name, "alpha");
  EXPECT_EQ(wire::parse_user_order(wire::serialise_user_order(*order)).value(), *order);
}

TEST_F(SignedRequest, WhenALineOrATextIsGiven_ThenItIsThat) {
  options.shell = "a | b";
  EXPECT_EQ(order_of(task_fields(options).value(), facts)->task.action,
            wire::TaskAction(wire::ShellAction{"a | b"}));
  options.shell.clear();
  options.echo = "hi";
  const auto order = order_of(task_fields(options).value(), facts);
  EXPECT_EQ(order->task.action, wire::TaskAction(wire::EchoAction{"hi"}));
  EXPECT_EQ(order->task.expires_at, facts.now + 10min);
  EXPECT_FALSE(order->has_stdin);
}

TEST_F(SignedRequest, WhenItWouldWaitForDays_ThenItIsNotSigned) {
  options.argv = {"true"};
  options.queue_timeout = "24h";

  const auto order = order_of(task_fields(options).value(), facts);

  ASSERT_FALSE(order.has_value());
  EXPECT_NE(order.error().what().find("--queue-timeout"), std::string::npos);
}

TEST_F(SignedRequest, WhenNoNodeIsNamed_ThenItIsTheOneThatIsMeantOrNone) {
  const std::string id = facts.node.text();
  const auto node = [&](const char* name, const char* more) {
    return R"({"id":")" + id + R"(","name":")" + name + R"(",)" + more + "}";
  };
  const char* free = R"("health":"attached","draining":false,"pool":"a","labels":{"gpu":"yes"})";
  const char* other = R"("health":"attached","draining":false,"pool":"b","labels":{})";
  const char* away = R"("health":"away","draining":false,"pool":"a","labels":{})";
  const char* draining = R"("health":"attached","draining":true,"pool":"a","labels":{})";
  options.argv = {"true"};
  const auto any = task_fields(options).value();
  options.pool = "a";
  const auto of_pool = task_fields(options).value();
  options.pool.clear();
  options.labels = {"gpu=yes"};
  const auto with_label = task_fields(options).value();
  const auto one = nodes("[" + node("x", free) + "," + node("y", away) + "," + node("z", draining) + "]");
  const auto two = nodes("[" + node("x", free) + "," + node("y", other) + "]");

  EXPECT_EQ(only_node(one, any).value(), facts.node);
  EXPECT_EQ(only_node(two, of_pool).value(), facts.node);
  EXPECT_EQ(only_node(two, with_label).value(), facts.node);
  EXPECT_FALSE(only_node(nodes("[]"), any).has_value());
  const auto several = only_node(two, any);
  ASSERT_FALSE(several.has_value());
  EXPECT_NE(several.error().what().find("x, y"), std::string::npos);
}

}  // namespace
}  // namespace outhaul::cli
