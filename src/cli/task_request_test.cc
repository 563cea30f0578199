#include "cli/task_request.h"

#include <gtest/gtest.h>

namespace outhaul::cli {
namespace {

RunOptions command() {
  RunOptions options;
  options.argv = {"echo", "a b", ""};
  return options;
}

// proves N4
TEST(TaskRequest, WhenEverythingIsGiven_ThenTheBodyHasIt) {
  auto options = command();
  options.node = "alpha";
  options.labels = {"gpu=yes"};
  options.environment = {"A=b=c"};
  options.directory = "sub";
  options.timeout = "1h30m";
  options.has_stdin = true;

  const auto body = task_request(options);

  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(
      *body,
      R"({"argv":["echo","a b",""],"selector":{"node":"alpha","labels":{"gpu":"yes"}},"env":{"A":"b=c"},)"
      R"("timeout":"1h30m","cwd":"sub","stdin":true,"interactive":true})");
}

TEST(TaskRequest, WhenAnOptionIsWrong_ThenItIsNamed) {
  auto none = command();
  none.argv.clear();
  auto both = command();
  both.shell = "true";
  auto label = command();
  label.labels = {"gpu"};
  auto unset = command();
  unset.environment = {"OUTHAUL_TEST_NOT_SET"};
  auto timeout = command();
  timeout.timeout = "30";
  auto gone = command();
  gone.detach = gone.has_stdin = true;
  const std::vector<std::pair<RunOptions, std::string>> rows = {
      {none, "say what to run"},
      {both, "say what to run"},
      {label, "--label gpu: "},
      {unset, "--env OUTHAUL_TEST_NOT_SET=VALUE"},
      {timeout, "--timeout: `30` is no time span: write 30s"},
      {gone, "--detach"}};
  for (const auto& [options, said] : rows) {
    SCOPED_TRACE(said);

    const auto body = task_request(options);

    ASSERT_FALSE(body.has_value());
    EXPECT_EQ(body.error().code(), ErrorCode::invalid);
    EXPECT_NE(body.error().what().find(said), std::string::npos) << body.error().what();
  }
}

TEST(TaskRequest, WhenAWordIsNotUtf8_ThenItIsNamed) {
  const std::string latin = "caf\xe9";
  auto word = command();
  word.argv = {"touch", "ok", latin};
  auto line = command();
  line.argv.clear();
  line.shell = latin;
  auto label = command();
  label.labels = {"k=" + latin};
  auto variable = command();
  variable.environment = {"NAME=" + latin};
  auto directory = command();
  directory.directory = latin;
  const std::pair<RunOptions, std::string> rows[] = {
      {word, "word 3 of the command"}, {line, "--shell"},    {label, "--label"},
      {variable, "the value of NAME"}, {directory, "--cwd"},
  };
  for (const auto& [options, named] : rows) {
    SCOPED_TRACE(named);

    const auto body = task_request(options);

    ASSERT_FALSE(body);
    EXPECT_NE(body.error().what().find(named + " is not UTF-8"), std::string::npos) << body.error().what();
  }
}

}  // namespace
}  // namespace outhaul::cli
