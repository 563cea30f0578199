#include "wire/task_result.h"

#include <gtest/gtest.h>

#include <functional>

#include "outhaul/v1/task.pb.h"
#include "testing/manual_clock.h"
#include "testing/seeded_random.h"

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

TaskResult sample_result() {
  testing::SeededRandom random(3);
  TaskResult result;
  result.task_id = TaskId::make(ManualClock::default_start, random);
  result.end = Exited{3};
  result.started_at = ManualClock::default_start;
  result.ended_at = ManualClock::default_start + 2s;
  result.used = {.wall = 2s, .user_cpu = 1s, .system_cpu = 3ms, .max_rss_bytes = 4096};
  result.out = {10, random.bytes(32)};
  result.err = {0, random.bytes(32)};
  result.bytes_left_out = 7;
  result.processes_killed = 2;
  result.pipe_holder = "sleep[42]";
  result.isolation = IsolationLevel::native;
  return result;
}

TEST(TaskResultParse, WhenItIsInOrder_ThenItRoundTripsAndHasAWord) {
  const std::vector<std::pair<TaskEnd, std::string_view>> rows = {
      {Exited{0}, "exited"},
      {Exited{255}, "exited"},
      {Signalled{9}, "signalled"},
      {Failed{ErrorCode::spawn_failed, "no such file"}, "failed"},
      {Failed{ErrorCode::task_cancelled, "by alice"}, "cancelled"},
      {Failed{ErrorCode::task_cancelled, "by alice", Exited{0}}, "cancelled"},
      {Failed{ErrorCode::task_timed_out, "after 1s"}, "timed_out"},
      {Failed{ErrorCode::task_timed_out, "after 1s", Signalled{15}}, "timed_out"},
      {Failed{ErrorCode::task_lost, ""}, "lost"},
  };
  for (const auto& [end, word] : rows) {
    SCOPED_TRACE(word);
    auto result = sample_result();
    result.end = end;

    const auto parsed = parse_task_result(serialise_task_result(result));

    ASSERT_TRUE(parsed.has_value()) << parsed.error().what();
    EXPECT_EQ(*parsed, result);
    EXPECT_EQ(state_of(parsed->end), word);
  }
}

TEST(TaskResultParse, WhenItNeverStarted_ThenItHasNoStart) {
  auto result = sample_result();
  result.started_at.reset();

  EXPECT_EQ(parse_task_result(serialise_task_result(result)).value(), result);
}

TEST(TaskResultSerialise, WhenTheMessageIsLongOrBroken_ThenItIsCutAndStillReadable) {
  auto result = sample_result();
  result.end = Failed{ErrorCode::spawn_failed, "\xff" + std::string(100'000, 'x')};

  const auto parsed = parse_task_result(serialise_task_result(result));

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<Failed>(parsed->end).message.size(), 4096U);
}

TEST(TaskResultParse, WhenTheCodeIsOfANewerNode_ThenItIsStillAFailure) {
  v1::TaskResult message;
  ASSERT_TRUE(message.ParseFromString(serialise_task_result(sample_result())));
  message.set_end(v1::TaskResult::FAILED);
  message.set_error_code("melted");

  const auto parsed = parse_task_result(message.SerializeAsString());

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(state_of(parsed->end), "failed");
}

TEST(TaskResultParse, WhenAFieldBreaksItsRule_ThenItIsAViolation) {
  using Message = v1::TaskResult;
  const std::vector<std::pair<const char*, std::function<void(Message&)>>> rows = {
      {"no task", [](Message& m) { m.clear_task_id(); }},
      {"no end", [](Message& m) { m.clear_end(); }},
      {"unknown end", [](Message& m) { m.set_end(static_cast<Message::End>(77)); }},
      {"exit code negative", [](Message& m) { m.set_exit_code(-1); }},
      {"exit code too large", [](Message& m) { m.set_exit_code(256); }},
      {"signal zero", [](Message& m) { m.set_end(Message::SIGNALLED); }},
      {"signal too large",
       [](Message& m) {
         m.set_end(Message::SIGNALLED);
         m.set_signal(65);
       }},
      {"lost with another code",
       [](Message& m) {
         m.set_end(Message::LOST);
         m.set_error_code("task_cancelled");
       }},
      {"cancelled without a code", [](Message& m) { m.set_end(Message::CANCELLED); }},
      {"negative duration", [](Message& m) { m.set_duration_ns(-1); }},
      {"negative end", [](Message& m) { m.set_ended_at_ns(-1); }},
      {"short hash", [](Message& m) { m.set_stdout_sha256("x"); }},
      {"long holder", [](Message& m) { m.set_pipe_holder(std::string(257, 'x')); }},
      {"unknown isolation", [](Message& m) { m.set_isolation("none"); }},
      {"long message",
       [](Message& m) {
         m.set_end(Message::FAILED);
         m.set_error_message(std::string(5000, 'x'));
       }},
      {"too large", [](Message& m) { m.set_error_message(std::string(20'000, 'x')); }},
  };
  for (const auto& [reason, spoil] : rows) {
    SCOPED_TRACE(reason);
    Message message;
    ASSERT_TRUE(message.ParseFromString(serialise_task_result(sample_result())));
    spoil(message);

    const auto parsed = parse_task_result(message.SerializeAsString());

    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), ErrorCode::protocol_violation);
  }
}

}  // namespace
}  // namespace outhaul::wire
