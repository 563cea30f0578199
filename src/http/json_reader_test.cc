#include "http/json_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace outhaul::http {
namespace {

bool names(const Error& error, std::string_view key) {
  return std::ranges::find(error.details(), key, &ErrorDetail::name) != error.details().end();
}

TEST(JsonReader, WhenEveryKeyIsRead_ThenItFinishes) {
  auto reader = JsonReader::parse(R"({"name":"n","count":3,"on":true,"argv":["a","b"],
      "env":{"A":"1","B":"2"},"limits":{"cpu":2},"rows":[{"x":1},{"x":2}],"gone":null})");
  ASSERT_TRUE(reader);

  EXPECT_EQ(reader->string("name"), "n");
  EXPECT_EQ(reader->integer("count", 1, 5), 3);
  EXPECT_TRUE(reader->boolean("on"));
  EXPECT_EQ(reader->strings("argv"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader->find_string_map("env").size(), 2U);
  EXPECT_EQ(reader->object("limits").integer("cpu", 0, 9), 2);
  for (auto& row : reader->objects("rows")) EXPECT_GT(row.integer("x", 0, 9), 0);
  EXPECT_EQ(reader->find_string("gone"), std::nullopt);
  EXPECT_EQ(reader->find_boolean("absent"), std::nullopt);
  EXPECT_TRUE(reader->finish());
}

TEST(JsonReader, WhenThereAreSeveralFaults_ThenAllAreNamedAtOnce) {
  auto reader =
      JsonReader::parse(R"({"a":1,"b":"hunter2","c":true,"d":{"e":"x"},"f":["x",1],"surplus":1,"g":""})");
  ASSERT_TRUE(reader);

  static_cast<void>(reader->string("a"));
  static_cast<void>(reader->integer("b", 0, 9));
  static_cast<void>(reader->find_integer("c", 0, 9));
  static_cast<void>(reader->object("d").boolean("e"));
  static_cast<void>(reader->strings("f"));
  static_cast<void>(reader->string("g"));
  static_cast<void>(reader->string("missing"));
  const auto finished = reader->finish();

  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code(), ErrorCode::invalid);
  for (const char* key : {"a", "b", "c", "d.e", "f", "surplus", "g", "missing"}) {
    SCOPED_TRACE(key);
    EXPECT_TRUE(names(finished.error(), key));
  }
  EXPECT_EQ(finished.error().what().find("hunter2"), std::string::npos);
}

TEST(JsonReader, WhenNumbersAreOutOfRange_ThenTheyAreFaults) {
  for (const char* number : {"-1", "10", "1.5", "1e2", "9223372036854775808", "\"1\"", "true", "[]"}) {
    SCOPED_TRACE(number);
    auto reader = JsonReader::parse(std::string("{\"n\":") + number + "}");
    ASSERT_TRUE(reader);

    static_cast<void>(reader->integer("n", 0, 9));

    EXPECT_FALSE(reader->finish());
  }
}

TEST(JsonReader, WhenValuesPassTheirLimit_ThenTheyAreFaults) {
  auto reader = JsonReader::parse(R"({"s":"abcde","l":["a","b","c"],"m":{"a":"1","b":"2"},"o":[1]})");
  ASSERT_TRUE(reader);

  static_cast<void>(reader->string("s", 4));
  static_cast<void>(reader->strings("l", 2));
  static_cast<void>(reader->find_string_map("m", 1));
  static_cast<void>(reader->objects("o"));
  const auto finished = reader->finish();

  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().details().size(), 4U);
}

TEST(JsonReader, WhenAnUnknownKeyIsStrange_ThenItIsNamedSafely) {
  const std::map<std::string, std::string> rows = {
      {"kye", "kye"}, {"k\\u001b[31m", "a key of 6 bytes"}, {std::string(100, 'k'), "a key of 100 bytes"}};
  for (const auto& [key, named] : rows) {
    SCOPED_TRACE(key);
    auto reader = JsonReader::parse("{\"" + key + "\":1}");
    ASSERT_TRUE(reader);

    const auto finished = reader->finish();

    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().details().front().name, named);
  }
}

TEST(JsonReader, WhenTextIsHostile_ThenItIsInvalidAndNotEchoed) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 40; ++i) deep += "[";
  const std::map<std::string, std::string> rows = {
      {"nothing", ""},
      {"no object", "[1]"},
      {"a string", "\"hunter2\""},
      {"cut off", R"({"a":"hunter2")"},
      {"trailing text", R"({"a":1} hunter2)"},
      {"trailing comma", R"({"a":1,})"},
      {"comment", "{/*hunter2*/}"},
      {"single quotes", "{'a':1}"},
      {"key given twice", R"({"a":1,"a":2})"},
      {"key given twice, escaped", R"({"a":1,"\u0061":2})"},
      {"key given twice below", R"({"x":[{"a":1,"b":2,"a":3}]})"},
      {"NUL escaped", R"({"a":"\u0000"})"},
      {"NUL in a key", R"({"\u0000":1})"},
      {"raw control", "{\"a\":\"\x01\"}"},
      {"not UTF-8", "{\"a\":\"\xff\"}"},
      {"lone surrogate", R"({"a":"\ud800"})"},
      {"too deep", deep},
      {"NaN", R"({"a":NaN})"},
      {"leading zero", R"({"a":01})"},
  };
  for (const auto& [reason, text] : rows) {
    SCOPED_TRACE(reason);

    const auto reader = JsonReader::parse(text);

    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code(), ErrorCode::invalid);
    EXPECT_EQ(reader.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(JsonReader, WhenUnknownKeysAreAllowed_ThenOnlyRealFaultsCount) {
  auto reader = JsonReader::parse(R"({"a":"x","later":{"b":1}})");
  ASSERT_TRUE(reader);

  EXPECT_EQ(reader->string("a"), "x");

  EXPECT_TRUE(reader->finish(JsonReader::UnknownKeys::allowed));
}

TEST(JsonReader, WhenTheCallerRefusesAValue_ThenItIsNamedLikeAnyOther) {
  auto reader = JsonReader::parse(R"({"spec":{"argv":[]}})");
  ASSERT_TRUE(reader);
  auto spec = reader->object("spec");

  if (spec.strings("argv").empty()) spec.refuse("argv", "must not be empty");
  const auto finished = reader->finish();

  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().what(), "spec.argv must not be empty");
}

}  // namespace
}  // namespace outhaul::http
