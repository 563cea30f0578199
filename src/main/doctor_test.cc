#include <gtest/gtest.h>

#include "http/json_reader.h"
#include "main/doctor_report.h"
#include "main/hub_path_check.h"

namespace outhaul {
namespace {

TEST(DoctorReport, WhenACheckFails_ThenItsRemedyStandsBelowIt) {
  DoctorReport report;
  report.ok("disk", "900 MiB free");
  report.warn("lock", "locked", "unlock it");
  EXPECT_FALSE(report.has_failed());

  report.fail("tls", Error(ErrorCode::ca_fingerprint_mismatch, "another CA"));

  EXPECT_TRUE(report.has_failed());
  EXPECT_NE(report.text().find("fail tls          another CA (ca_fingerprint_mismatch)\n"),
            std::string::npos);
  EXPECT_NE(report.text().find("-> Compare the fingerprint"), std::string::npos);
  auto json = http::JsonReader::parse(report.json()).value();
  EXPECT_FALSE(json.boolean("ok"));
  EXPECT_EQ(json.objects("checks").size(), 3U);
}

TEST(DoctorReport, WhenTextComesFromOutside_ThenATerminalIsNotToldWhatToDo) {
  DoctorReport report;
  report.fail("hub", "\x1b[2J", "\x07");
  EXPECT_EQ(report.text().find('\x1b'), std::string::npos);
  EXPECT_EQ(report.text().find('\x07'), std::string::npos);
}

TEST(HubTime, WhenItIsRfc3339InUtc_ThenItsSecondsCount) {
  EXPECT_EQ(parse_hub_time("1970-01-02T00:00:01Z"), WallTime{86'401'000'000'000});
  EXPECT_EQ(parse_hub_time("1970-01-02T00:00:01.5Z"), WallTime{86'401'000'000'000});
  for (const char* text : {"", "Z", "yesterday", "1970-01-02", "1970-01-02T00:00:01+02:00"}) {
    EXPECT_EQ(parse_hub_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace outhaul
