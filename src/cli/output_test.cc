#include "cli/output.h"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "testing/manual_clock.h"
#include "testing/seeded_random.h"

namespace outhaul::cli {
namespace {

namespace json = boost::json;
using stream::EncodedRecord;
using stream::RecordKind;
using testing::ManualClock;

json::value parsed(const EncodedRecord& record) { return json::parse(json_line(record).value()); }

TEST(JsonLine, WhenARecordIsOutput_ThenItsBytesAreBase64) {
  const auto line = json_line(EncodedRecord::make(RecordKind::standard_output, 5, WallTime(), "hi\n"));

  ASSERT_TRUE(line);
  EXPECT_EQ(*line, R"({"kind":"stdout","offset":5,"time":"1970-01-01T00:00:00.000Z","data":"aGkK"})"
                   "\n");
}

TEST(JsonLine, WhenBytesAreLeftOut_ThenTheirNumberIsThere) {
  const auto line = parsed(EncodedRecord::make_gap(5, WallTime(), 1000));

  EXPECT_EQ(line.at("kind"), "gap");
  EXPECT_EQ(line.at("bytes_left_out"), 1000);
}

// proves N4
TEST(JsonLine, WhenARecordIsTheResult_ThenItIsAnObjectAsTheHubShowsIt) {
  testing::SeededRandom random(3);
  wire::TaskResult result;
  result.task_id = TaskId::make(ManualClock::default_start, random);
  result.end = wire::Exited{3};
  result.out = {10, Bytes(32, '\x01')};

  const auto line =
      parsed(EncodedRecord::make(RecordKind::result, 10, WallTime(), serialise_task_result(result)));

  EXPECT_EQ(line.at("kind"), "result");
  EXPECT_EQ(line.at("task_id"), json::string(result.task_id.text()));
  EXPECT_EQ(line.at("result").at("end"), "exited");
  EXPECT_EQ(line.at("result").at("exit_code"), 3);
  EXPECT_TRUE(line.at("result").at("signal").is_null());
  EXPECT_EQ(line.at("result").at("stdout_bytes"), 10);
  const std::string sha256(line.at("result").at("stdout_sha256").as_string());
  EXPECT_EQ(sha256.substr(0, 4), "0101");
}

TEST(JsonLine, WhenAResultIsNone_ThenItIsAViolation) {
  const auto line = json_line(EncodedRecord::make(RecordKind::result, 0, WallTime(), "\xff"));

  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code(), ErrorCode::protocol_violation);
}

}  // namespace
}  // namespace outhaul::cli
