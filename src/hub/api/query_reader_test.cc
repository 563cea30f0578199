#include "hub/api/query_reader.h"

#include <gtest/gtest.h>

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

TEST(QueryReader, WhenParametersAreLegal_ThenTheyAreRead) {
  const http::Query query(
      {{"from", "12"}, {"follow", "true"}, {"wait", "30s"}, {"limit", "7"}, {"cursor", "c"}, {"pool", "p"}});
  QueryReader reader(query);

  EXPECT_EQ(reader.number("from"), 12U);
  EXPECT_TRUE(reader.flag("follow"));
  EXPECT_EQ(reader.duration("wait", 1min), 30s);
  const auto page = reader.page();
  EXPECT_EQ(page.limit, 7U);
  EXPECT_EQ(page.cursor, "c");
  EXPECT_EQ(reader.text("pool"), "p");
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(QueryReader, WhenNothingIsGiven_ThenTheDefaultsHold) {
  const http::Query query;
  QueryReader reader(query);

  EXPECT_FALSE(reader.number("from").has_value());
  EXPECT_FALSE(reader.flag("follow"));
  EXPECT_FALSE(reader.duration("wait", 1min).has_value());
  EXPECT_EQ(reader.page().limit, store::default_page_rows);
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(QueryReader, WhenAValueIsHostile_ThenInvalidNamesTheParameterOnly) {
  const std::pair<std::string, std::string> rows[] = {
      {"from", ""},    {"from", "-1"},
      {"from", "+1"},  {"from", "0x1"},
      {"from", "1 "},  {"from", "9223372036854775808"},
      {"follow", "1"}, {"follow", "True"},
      {"wait", "61s"}, {"wait", "30"},
      {"limit", "0"},  {"limit", "201"},
      {"cursor", ""},  {"cursor", std::string(257, 'c')},
  };
  for (const auto& [name, value] : rows) {
    SCOPED_TRACE(name + "=" + value);
    const http::Query query({{name, value}});
    QueryReader reader(query);
    static_cast<void>(reader.number("from"));
    static_cast<void>(reader.flag("follow"));
    static_cast<void>(reader.duration("wait", 1min));
    static_cast<void>(reader.page());

    const auto read = reader.finish();

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::invalid);
    ASSERT_FALSE(read.error().details().empty());
    EXPECT_EQ(read.error().details()[0].name, name);
  }
}

TEST(QueryReader, WhenAParameterIsUnknown_ThenItIsRefusedAndNotRepeated) {
  const http::Query query({{"hunter2", "x"}});
  QueryReader reader(query);

  const auto read = reader.finish();

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().what().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace outhaul::hub
