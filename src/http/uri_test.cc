#include "http/uri.h"

#include <gtest/gtest.h>

#include <map>

namespace outhaul::http {
namespace {

TEST(PercentEncoding, WhenTextIsEncoded_ThenDecodingGivesItBack) {
  const std::string text = "a/b c+d%e\xc3\xa9~";

  const auto encoded = percent_encode(text);

  EXPECT_EQ(encoded, "a%2Fb%20c%2Bd%25e%C3%A9~");
  EXPECT_EQ(*parse_percent_encoded(encoded), text);
}

TEST(PercentEncoding, WhenTextIsHostile_ThenItIsInvalidAndNotEchoed) {
  const std::map<std::string, std::string> rows = {
      {"cut short", "hunter2%4"},
      {"no digits", "hunter2%zz"},
      {"sign instead of a digit", "hunter2%+1"},
      {"NUL", "hunter2%00"},
      {"line end", "hunter2%0d%0a"},
      {"DEL", "hunter2%7f"},
      {"not UTF-8", "hunter2%ff"},
      {"overlong slash", "hunter2%c0%af"},
      {"raw control", "hunter2\x01"},
  };
  for (const auto& [reason, text] : rows) {
    SCOPED_TRACE(reason);

    const auto decoded = parse_percent_encoded(text);

    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code(), ErrorCode::invalid);
    EXPECT_EQ(decoded.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(PercentEncoding, WhenAnEscapeIsEscaped_ThenItIsDecodedOnce) {
  EXPECT_EQ(*parse_percent_encoded("%252e%252e"), "%2e%2e");
}

TEST(QueryParse, WhenQueryIsWellFormed_ThenValuesAreDecodedInOrder) {
  const auto query = parse_query("from=12&q=a%26b+c&flag&empty=");

  ASSERT_TRUE(query);
  EXPECT_EQ(query->find("from"), "12");
  EXPECT_EQ(query->find("q"), "a&b c");
  EXPECT_EQ(query->find("flag"), "");
  EXPECT_EQ(query->find("empty"), "");
  EXPECT_EQ(query->find("absent"), std::nullopt);
  EXPECT_TRUE(parse_query("")->is_empty());
}

TEST(QueryParse, WhenQueryIsHostile_ThenItIsInvalid) {
  std::string many;
  for (int i = 0; i < 65; ++i) many += "k" + std::to_string(i) + "=1&";
  for (const auto& text :
       {std::string("a=1&a=2"), std::string("a=1&%61=2"), std::string("=1"), std::string("a=%"), many}) {
    SCOPED_TRACE(text.substr(0, 20));

    const auto query = parse_query(text);

    ASSERT_FALSE(query);
    EXPECT_EQ(query.error().code(), ErrorCode::invalid);
  }
}

TEST(PathSplit, WhenPathHasEmptySegments_ThenTheyAreKept) {
  using Segments = std::vector<std::string_view>;
  EXPECT_EQ(split_path("/"), Segments{""});
  EXPECT_EQ(split_path("/a/b"), (Segments{"a", "b"}));
  EXPECT_EQ(split_path("/a//b/"), (Segments{"a", "", "b", ""}));
  EXPECT_EQ(split_path("/a/%2e%2e"), (Segments{"a", "%2e%2e"}));
}

TEST(UrlParse, WhenUrlNamesAHub_ThenHostAndPortAreRead) {
  struct Row {
    const char* text;
    const char* authority;
  };
  for (const Row& row :
       {Row{"https://hub.example.org", "hub.example.org:443"}, Row{"https://hub:8443/", "hub:8443"},
        Row{"127.0.0.1:8443", "127.0.0.1:8443"}, Row{"https://[::1]:8443", "[::1]:8443"}}) {
    SCOPED_TRACE(row.text);

    const auto url = parse_url(row.text);

    ASSERT_TRUE(url);
    EXPECT_EQ(url->authority(), row.authority);
    EXPECT_EQ(*parse_url(url->text())->authority().c_str(), *url->authority().c_str());
  }
}

TEST(UrlParse, WhenUrlIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  for (const char* text :
       {"", "http://hunter2", "ftp://hunter2", "https://user:hunter2@hub", "https://hub/hunter2",
        "https://hub?hunter2", "https://hub#hunter2", "https://hub:0", "https://hub:65536",
        "https://hub:", "https://hub:8a", "https://[::1", "https://::1", "https://-hub", "https://hu b",
        "https://hub:8443:1", "https://https://hub"}) {
    SCOPED_TRACE(text);

    const auto url = parse_url(text);

    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().code(), ErrorCode::invalid);
    EXPECT_EQ(url.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(ListenAddressParse, WhenTextIsAddressAndPort_ThenBothAreRead) {
  EXPECT_EQ(*parse_listen_address("127.0.0.1:0"), (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(*parse_listen_address("[::]:443"), (ListenAddress{"::", 443}));
  EXPECT_EQ(parse_listen_address("[::]:443")->text(), "[::]:443");
  for (const char* text : {"", ":8443", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "[::]", "::1:443"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(parse_listen_address(text));
  }
}

}  // namespace
}  // namespace outhaul::http
