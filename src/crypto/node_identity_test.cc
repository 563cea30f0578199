#include "crypto/node_identity.h"

#include <gtest/gtest.h>

#include <string>

namespace outhaul::crypto {
namespace {

const std::string node_text = "node_01hv8m6q3k9v7x2c4b5n6p7r8s";

TEST(NodeIdentity, WhenWrittenAndParsed_ThenItIsEqual) {
  const NodeIdentity identity{"hub.example.org", NodeId::assume(node_text)};

  EXPECT_EQ(identity.uri(), "spiffe://hub.example.org/node/" + node_text);
  EXPECT_EQ(*NodeIdentity::parse_uri(identity.uri()), identity);
}

TEST(NodeIdentity, WhenTheUriIsAnythingElse_ThenTheCertificateIsInvalidAndNotEchoed) {
  const std::string rejected[] = {"",
                                  "spiffe://",
                                  "spiffe:///node/" + node_text,
                                  "https://hub/node/" + node_text,
                                  "SPIFFE://hub/node/" + node_text,
                                  "spiffe://hub",
                                  "spiffe://hub/",
                                  "spiffe://hub/node/",
                                  "spiffe://hub/node/" + node_text + "/",
                                  "spiffe://hub/node/" + node_text + "?x",
                                  "spiffe://hub/node//" + node_text,
                                  "spiffe://hub//node/" + node_text,
                                  "spiffe://hub/hub/" + node_text,
                                  "spiffe://hub/node/../node/" + node_text,
                                  "spiffe://user@hub/node/" + node_text,
                                  "spiffe://hub:443/node/" + node_text,
                                  "spiffe://Hub/node/" + node_text,
                                  "spiffe://hub/node/task_01hv8m6q3k9v7x2c4b5n6p7r8s",
                                  "spiffe://hub/node/hunter2",
                                  "spiffe://hub/node/" + node_text + std::string(1, '\0')};
  for (const auto& uri : rejected) {
    SCOPED_TRACE(uri);
    const auto identity = NodeIdentity::parse_uri(uri);
    ASSERT_FALSE(identity.has_value());
    EXPECT_EQ(identity.error().code(), ErrorCode::certificate_invalid);
    EXPECT_EQ(identity.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(DnsName, WhenTheTextIsOne_ThenItIsTaken) {
  for (const auto& name : {std::string("localhost"), std::string("hub.example.org"), std::string("a"),
                           std::string("xn--bcher-kva.example"), std::string("1.a"), std::string(63, 'a')}) {
    EXPECT_TRUE(is_dns_name(name)) << name;
  }
}

TEST(DnsName, WhenTheTextIsNone_ThenItIsRefused) {
  std::string too_long = "a";
  while (too_long.size() <= 253) too_long += ".a";
  for (const auto& text :
       {std::string(), std::string("."), std::string("a."), std::string(".a"), std::string("a..b"),
        std::string("-a"), std::string("a-"), std::string("a_b"), std::string("Hub"),
        std::string("*.example"), std::string("127.0.0.1"), std::string("::1"), std::string("a b"),
        std::string("a\n"), std::string("b\xc3\xbc"), std::string(64, 'a'), too_long}) {
    EXPECT_FALSE(is_dns_name(text)) << text;
  }
}

}  // namespace
}  // namespace outhaul::crypto
