#include "wire/target.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace outhaul::wire {
namespace {

constexpr std::string_view some_stream = "stream:str_01hzzzzzzzzzzzzzzzzzzzzzzz";

TEST(TargetParse, WhenTextIsSymbolic_ThenItRoundTrips) {
  for (const std::string_view text :
       {"ssh:sky141", "web:dashboard", "tool:cluster_check", "ssh:a", "workspace:default", "relay:model"}) {
    SCOPED_TRACE(text);

    const auto target = Target::parse(text);

    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->text(), text);
  }
}

// proves B7
TEST(TargetParse, WhenTextIsAnythingElse_ThenItIsInvalidAndNotEchoed) {
  const std::map<std::string, std::vector<std::string>> rejected = {
      {"shape",
       {"", ":", "sky141", "ssh:", ":sky141", "ftp:sky141", "ssh:sky-", "ssh:sky_", "ssh:_sky", "ssh:-sky"}},
      {"port", {"ssh:sky141:22", "web:dash:443"}},
      {"address",
       {"ssh:10.0.0.1", "ssh:2130706433", "ssh:0x7f000001", "ssh:017700000001", "ssh:[fe80::1]", "ssh:::1",
        "ssh:127.1", "web:1"}},
      {"dns or url", {"web:dash.example.org", "https://sky141", "web:http://x", "web:localhost."}},
      {"credentials", {"ssh:root@sky141", "ssh:root:hunter2@sky141"}},
      {"path", {"tool:/bin/sh", "tool:../sh", "tool:a\\b", "tool:a/b", "tool:.", "tool:.."}},
      {"shell",
       {"tool:a;b", "tool:$(id)", "tool:`id`", "tool:a|b", "tool:a'b", "tool:a\"b", "tool:a b", "tool:a*",
        "tool:a?", "tool:a&", "tool:a>b", "tool:a<b", "tool:a=b", "tool:~a", "tool:a{b", "tool:a#", "tool:a%",
        "ssh:-oProxyCommand"}},
      {"bytes",
       {"SSH:sky141", "ssh:Sky", "ssh:sky\n", "ssh:sky\t1", " ssh:sky", "ssh: sky",
        std::string("ssh:s\0x", 7), std::string("ssh\0:sx", 7), "ssh:sk\xd1\x83", "ssh:sky\xff"}},
  };
  for (const auto& [reason, texts] : rejected) {
    for (const auto& text : texts) {
      SCOPED_TRACE(reason + " <" + text + ">");

      const auto target = Target::parse(text);

      ASSERT_FALSE(target.has_value());
      EXPECT_EQ(target.error().code(), ErrorCode::invalid);
      EXPECT_EQ(target.error().what().find("hunter2"), std::string::npos);
    }
  }
}

TEST(TargetParse, WhenNameIsOneByteOverTheLimit_ThenItIsInvalid) {
  const std::string longest = "ssh:" + std::string(Target::max_name_bytes, 'a');

  EXPECT_TRUE(Target::parse(longest).has_value());
  EXPECT_FALSE(Target::parse(longest + "a").has_value());
}

// Every single byte in every place of a short name: only the alphabet passes.
TEST(TargetParse, WhenAnyOtherByteStandsInside_ThenItIsInvalid) {
  const std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  for (int byte = 0; byte < 256; ++byte) {
    SCOPED_TRACE(byte);
    const std::string text = std::string("tool:a") + static_cast<char>(byte) + "b";

    const bool is_taken = Target::parse(text).has_value();

    EXPECT_EQ(is_taken, alphabet.find(static_cast<char>(byte)) != alphabet.npos);
  }
}

// The table of docs/protocol.md, written a second time.
const std::map<Plane, std::set<std::string>>& kinds_by_plane() {
  static const std::map<Plane, std::set<std::string>> table = {
      {Plane::task, {"workspace:default"}},
      {Plane::turn, {"group:default"}},
      {Plane::tool, {"tool:default"}},
      {Plane::console, {"shell:default", "ssh:default", "sandbox:default"}},
      {Plane::web, {"web:default"}},
      {Plane::browser, {"browser:default"}},
      {Plane::relay, {"relay:model", "relay:mcp", "relay:git"}},
      {Plane::stream, {std::string(some_stream)}},
  };
  return table;
}

// proves B7
TEST(ChannelTargetMake, WhenThePairIsOutsideTheTable_ThenItCannotBeMade) {
  std::set<std::string> all = {"relay:default", "stream:default", "relay:shell"};
  for (const auto& [plane, texts] : kinds_by_plane()) all.insert(texts.begin(), texts.end());
  for (const auto& [plane, allowed] : kinds_by_plane()) {
    for (const auto& text : all) {
      SCOPED_TRACE(std::string(name_of(plane)) + " " + text);

      const auto made = ChannelTarget::parse(name_of(plane), text);

      EXPECT_EQ(made.has_value(), allowed.contains(text));
    }
  }
}

TEST(ChannelTargetParse, WhenThePlaneIsUnknown_ThenItIsInvalidAndNotEchoed) {
  for (const std::string_view plane : {"", "Task", "task ", "hunter2", "tasks"}) {
    SCOPED_TRACE(plane);

    const auto made = ChannelTarget::parse(plane, "workspace:default");

    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(PlaneOpeners, WhenASideAsks_ThenTheTableDecides) {
  for (std::size_t i = 0; i < plane_count; ++i) {
    const auto plane = static_cast<Plane>(i);
    SCOPED_TRACE(name_of(plane));

    const bool by_hub = may_open(Side::hub, plane);
    const bool by_node = may_open(Side::node, plane);

    EXPECT_EQ(by_hub, plane != Plane::relay);
    EXPECT_EQ(by_node, plane == Plane::relay || plane == Plane::stream);
  }
}

TEST(PlanePrincipals, WhenAnAiAsks_ThenConsoleWebAndTurnAreNeverItsOwn) {
  for (const auto ai : {Principal::ai, Principal::ai_in_conversation, Principal::ai_coding_conversation}) {
    EXPECT_FALSE(may_use(ai, Plane::console));
    EXPECT_FALSE(may_use(ai, Plane::web));
    EXPECT_FALSE(may_use(ai, Plane::turn));
    EXPECT_FALSE(may_use(ai, Plane::relay));
    EXPECT_FALSE(may_use(ai, Plane::stream));
    EXPECT_TRUE(may_use(ai, Plane::tool));
    EXPECT_EQ(may_use(ai, Plane::task), ai == Principal::ai_coding_conversation);
    EXPECT_EQ(may_use(ai, Plane::browser), ai != Principal::ai);
  }
}

TEST(PlanePrincipals, WhenOthersAsk_ThenEachHasItsOwnPlanes) {
  for (std::size_t i = 0; i < plane_count; ++i) {
    const auto plane = static_cast<Plane>(i);
    SCOPED_TRACE(name_of(plane));

    EXPECT_EQ(may_use(Principal::person, plane), plane != Plane::relay && plane != Plane::stream);
    EXPECT_EQ(may_use(Principal::resident, plane), plane == Plane::relay);
    EXPECT_EQ(may_use(Principal::tunnel_end, plane), plane == Plane::stream);
  }
}

}  // namespace
}  // namespace outhaul::wire
