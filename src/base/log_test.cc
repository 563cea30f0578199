#include "base/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "testing/manual_clock.h"

namespace outhaul {
namespace {

class KeptLines final : public LogSink {
 public:
  void write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// A whole JSON object of flat members, strict about strings: enough to refuse any line that a hostile
// field broke open.
bool is_flat_json_object(const std::string& line) {
  static const std::regex form(
      R"re(\{("[a-z_]+":("([^"\\\x01-\x1f]|\\["\\]|\\u[0-9a-f]{4})*"|true|false|-?[0-9.e+-]+),?)+\})re");
  return line.find('\0') == line.npos && line.find(",}") == line.npos && std::regex_match(line, form);
}

class LogTest : public ::testing::Test {
 protected:
  std::string json_line_with(std::string_view value) {
    const Log log("hub", clock_, sink_);
    log.info("peer said", {{"text", value}});
    return sink_.lines.back();
  }

  testing::ManualClock clock_;
  KeptLines sink_;
};

TEST_F(LogTest, WhenJson_ThenFieldsKeepTheirTypes) {
  const Log log("hub", clock_, sink_);

  log.info("lease granted", {{"node", "node_1"}, {"ttl", 30}, {"first", true}, {"load", 0.5}});

  ASSERT_EQ(sink_.lines.size(), 1U);
  EXPECT_EQ(
      sink_.lines[0],
      R"({"time":"2026-01-01T00:00:00.000000Z","level":"info","component":"hub","message":"lease granted",)"
      R"("node":"node_1","ttl":30,"first":true,"load":0.5})");
}

TEST_F(LogTest, WhenText_ThenTheLineIsForPeople) {
  const Log log("node", clock_, sink_, Log::Format::text);

  log.warn("disk filling", {{"free", 12}, {"path", "/data"}});

  EXPECT_EQ(sink_.lines.at(0),
            R"(2026-01-01T00:00:00.000000Z warn  node: disk filling free=12 path="/data")");
}

TEST_F(LogTest, WhenBelowTheLeastLevel_ThenNothingIsWritten) {
  const Log log("hub", clock_, sink_, Log::Format::json, LogLevel::warn);

  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");

  EXPECT_EQ(sink_.lines.size(), 2U);
}

TEST_F(LogTest, WhenAnErrorIsReported_ThenItsCodeIsAField) {
  const Log log("hub", clock_, sink_);

  log.failure("start failed", Error(ErrorCode::data_locked, "lock: held by 7"));

  EXPECT_NE(sink_.lines.at(0).find(R"("code":"data_locked","error":"lock: held by 7")"), std::string::npos);
}

TEST_F(LogTest, WhenAFieldIsHostile_ThenTheLineStaysOneJsonObject) {
  const std::string_view rows[] = {
      "\"",
      "\\",
      "\",\"admin\":true,\"x\":\"",
      "line\nbreak\r\n",
      "\x1b[31mred\x1b]0;title\x07",
      std::string_view("nul\0nul", 7),
      "\xff\xfe not UTF-8",
      "\xe2\x80\xae right to left",
      "\x7f",
  };
  for (const auto row : rows) {
    SCOPED_TRACE(row);

    const auto line = json_line_with(row);

    EXPECT_TRUE(is_flat_json_object(line)) << line;
  }
}

TEST_F(LogTest, WhenAFieldIsLong_ThenItIsCutAndMarked) {
  const std::string exact(Log::max_field_bytes, 'x');

  EXPECT_NE(json_line_with(exact).find(exact + "\""), std::string::npos);
  EXPECT_NE(json_line_with(exact + "y").find(exact + "...\""), std::string::npos);
}

TEST_F(LogTest, WhenACutFallsBehindABackslash_ThenTheLineStaysWhole) {
  const auto line = json_line_with(std::string(Log::max_field_bytes - 1, 'x') + "\\\"tail");

  EXPECT_TRUE(is_flat_json_object(line)) << line;
}

}  // namespace
}  // namespace outhaul
