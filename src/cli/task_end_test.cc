#include "cli/task_end.h"

#include <csignal>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "http/json_writer.h"
#include "wire/task_result_json.h"

namespace outhaul::cli {
namespace {

using wire::Exited;
using wire::Failed;
using wire::Signalled;

// proves N4
TEST(ExitCode, WhenATaskEnds_ThenScriptsCanTellWhoseDoingItWas) {
  const std::pair<wire::TaskEnd, int> rows[] = {
      {Exited{0}, 0},
      {Exited{3}, 3},
      {Exited{125}, 125},
      {Signalled{SIGKILL}, 137},
      {Failed{ErrorCode::program_not_found, "x"}, 127},
      {Failed{ErrorCode::program_not_executable, "x"}, 126},
      {Failed{ErrorCode::task_timed_out, "x", Signalled{SIGTERM}}, 124},
      {Failed{ErrorCode::directory_unavailable, "x"}, 125},
      {Failed{ErrorCode::task_cancelled, "x", Exited{3}}, 125},
      {Failed{ErrorCode::task_lost, "x"}, 125},
      {Failed{ErrorCode::queue_timeout, "x"}, 125},
  };
  for (const auto& [end, code] : rows) {
    SCOPED_TRACE(end_sentence(end));

    EXPECT_EQ(exit_code_of(end), code);
  }
}

TEST(ExitCode, WhenInterrupted_ThenACommandThatExitsByItselfGivesItsOwnCode) {
  const Failed trapped{ErrorCode::task_cancelled, "", Exited{7}};
  const Failed ended{ErrorCode::task_cancelled, "", Signalled{SIGKILL}};

  EXPECT_EQ(exit_code_after_interrupt(trapped, SIGINT), 7);
  EXPECT_EQ(exit_code_after_interrupt(ended, SIGINT), 130);
  EXPECT_EQ(exit_code_after_interrupt(ended, SIGTERM), 143);
  EXPECT_EQ(exit_code_after_interrupt(Failed{ErrorCode::task_cancelled, "never ran"}, SIGTERM), 143);
  EXPECT_EQ(exit_code_after_interrupt(Exited{0}, SIGINT), 0);
  EXPECT_EQ(exit_code_after_interrupt(Failed{ErrorCode::task_lost, ""}, SIGINT), 125);
}

TEST(EndSentence, WhenTheCodeIsNotPlain_ThenItSaysWhichItWas) {
  EXPECT_TRUE(goes_without_saying(Exited{123}));
  EXPECT_FALSE(goes_without_saying(Exited{124}));
  EXPECT_FALSE(goes_without_saying(Signalled{9}));
  EXPECT_EQ(end_sentence(Exited{127}), "the command itself exited with 127");
  EXPECT_EQ(end_sentence(Signalled{9}), "the command was ended by signal 9 (KILL)");
  EXPECT_EQ(end_sentence(Failed{ErrorCode::task_timed_out, "too\x1b long"}),
            "too? long (task_timed_out). Raise `--timeout`.");
}

TEST(TaskEndOf, WhenTheHubShowsAResult_ThenItIsTheSameEnd) {
  const wire::TaskEnd ends[] = {Exited{3}, Signalled{15}, Failed{ErrorCode::task_lost, "gone"},
                                Failed{ErrorCode::task_cancelled, "by ann", Exited{0}}};
  for (const auto& end : ends) {
    SCOPED_TRACE(end_sentence(end));
    wire::TaskResult result;
    result.end = end;
    http::JsonWriter json;
    wire::write_task_result(json, result);

    const auto read = task_end_of(json::parse(std::move(json).take_text()));

    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(*read, end);
  }
  for (const auto* strange : {"null", "{}", R"({"exit_code":"3"})", "[]"})
    EXPECT_FALSE(task_end_of(json::parse(strange))) << strange;
}

TEST(EndCell, WhenATaskIsListed_ThenItIsTheEndAndNotTheState) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"state":"running","error_code":null,"exit_code":null,"signal":null})", "-"},
      {R"({"state":"finished","error_code":null,"exit_code":3,"signal":null})", "exit 3"},
      {R"({"state":"finished","error_code":null,"exit_code":null,"signal":9})", "KILL"},
      {R"({"state":"failed","error_code":"program_not_found","exit_code":null,"signal":null})",
       "program_not_found"},
      {R"({"state":"cancelled","error_code":"task_cancelled","exit_code":0,"signal":null})",
       "task_cancelled"},
      {"[]", "-"},
  };
  for (const auto& [task, cell] : rows) EXPECT_EQ(end_cell(json::parse(task)), cell) << task;
}

}  // namespace
}  // namespace outhaul::cli
