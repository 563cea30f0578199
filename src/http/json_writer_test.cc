#include "http/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace outhaul::http {
namespace {

TEST(JsonWriter, WhenValuesAreNested_ThenCommasAreRight) {
  JsonWriter json;

  json.begin_object()
      .field("a", 1)
      .field("b", "x")
      .key("c")
      .begin_array()
      .value(true)
      .null()
      .begin_object()
      .end_object();
  json.value(-2).end_array().key("d").raw("[]").field("e", std::uint64_t(-1)).end_object();

  EXPECT_EQ(std::move(json).take_text(),
            R"({"a":1,"b":"x","c":[true,null,{},-2],"d":[],"e":18446744073709551615})");
}

TEST(JsonWriter, WhenTextIsUnsafe_ThenItIsEscaped) {
  JsonWriter json;

  json.value(std::string_view("\"\\\n\x1b[31m\x7f\xff\xe2\x82\xac\0", 14));

  EXPECT_EQ(std::move(json).take_text(), "\"\\\"\\\\\\n\\u001b[31m\\u007f\xef\xbf\xbd\xe2\x82\xac\\u0000\"");
}

TEST(JsonWriter, WhenANumberIsNotFinite_ThenItIsNull) {
  JsonWriter json;

  json.begin_array().value(1.5).value(std::numeric_limits<double>::infinity()).end_array();

  EXPECT_EQ(std::move(json).take_text(), "[1.5,null]");
}

TEST(JsonWriterDeathTest, WhenAnEndIsMissing_ThenItIsABrokenPromise) {
  JsonWriter json;
  json.begin_object();
  EXPECT_DEATH(static_cast<void>(std::move(json).take_text()), "open_");
}

}  // namespace
}  // namespace outhaul::http
