#include "hub/hub_data.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/manual_clock.h"
#include "testing/scratch_directory.h"
#include "testing/seeded_random.h"

namespace outhaul::hub {
namespace {

constexpr auto now = testing::ManualClock::default_start;

class HubDataTest : public ::testing::Test {
 protected:
  Result<HubIdentity> make(const std::string& deployment = "example.org") {
    return make_identity(data, deployment, now, random);
  }
  void write(std::string_view name, std::string_view text) { std::ofstream(data.file(name)) << text; }

  testing::SeededRandom random{1};
  testing::ScratchDirectory scratch;
  crypto::DataDirectory data =
      crypto::DataDirectory::create_or_open(scratch.file("hub"), crypto::DataOwner::hub).value();
};

TEST_F(HubDataTest, WhenMadeAndMarked_ThenItLoadsAsTheSame) {
  const auto made = make().value();
  ASSERT_TRUE(mark_complete(data, made).has_value());

  const auto loaded = load_identity(data);

  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->deployment, "example.org");
  EXPECT_EQ(loaded->signing_key_id, made.signing_key_id);
  EXPECT_EQ(loaded->signing_key.public_key(), made.signing_key.public_key());
  EXPECT_EQ(loaded->authority.fingerprint(), made.authority.fingerprint());
}

TEST_F(HubDataTest, WhenInitWasCutOff_ThenServeSaysSoAndTheNextInitStartsOver) {
  const auto first = make().value();
  write("hub.db", "half");
  write("hub.db-wal", "half");
  write("admin-token", "half");

  const auto loaded = load_identity(data);
  const auto second = make();

  EXPECT_EQ(loaded.error().code(), ErrorCode::not_found);
  EXPECT_NE(loaded.error().what().find("cut off"), std::string::npos);
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(second->authority.fingerprint(), first.authority.fingerprint());
  for (const auto* name : {"hub.db", "hub.db-wal", "admin-token"}) {
    EXPECT_FALSE(std::filesystem::exists(data.file(name))) << name;
  }
  ASSERT_TRUE(mark_complete(data, *second).has_value());
  EXPECT_TRUE(load_identity(data).has_value());
}

TEST_F(HubDataTest, WhenAHubHasLostItsMark_ThenInitDoesNotTouchItsKeys) {
  const auto made = make().value();
  ASSERT_TRUE(mark_complete(data, made).has_value());
  std::filesystem::remove(data.file("hub.json"));

  EXPECT_EQ(make().error().code(), ErrorCode::conflict);
  EXPECT_TRUE(std::filesystem::exists(data.file("ca.key")));
}

TEST_F(HubDataTest, WhenAHubIsThere_ThenInitLeavesItAlone) {
  const auto made = make().value();
  ASSERT_TRUE(mark_complete(data, made).has_value());

  EXPECT_EQ(make().error().code(), ErrorCode::conflict);
  EXPECT_EQ(load_identity(data)->signing_key_id, made.signing_key_id);
}

// proves A10
TEST_F(HubDataTest, WhenAKeyFileIsLoose_ThenItIsRefused) {
  const auto made = make().value();
  ASSERT_TRUE(mark_complete(data, made).has_value());
  for (const auto* name : {"ca.key", "signing.key"}) {
    SCOPED_TRACE(name);
    std::filesystem::permissions(data.file(name), std::filesystem::perms(0640));

    EXPECT_EQ(load_identity(data).error().code(), ErrorCode::file_permissions_loose);

    std::filesystem::permissions(data.file(name), std::filesystem::perms(0600));
  }
}

TEST_F(HubDataTest, WhenAFileIsDamaged_ThenItIsNamedAndNotRepeated) {
  const auto made = make().value();
  ASSERT_TRUE(mark_complete(data, made).has_value());
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"hub.json", "hunter2"},
      {"hub.json", R"({"deployment":"Example","signing_key_id":"key_01234567890123456789012345"})"},
      {"hub.json", R"({"deployment":"example.org","signing_key_id":"hunter2"})"},
      {"ca.pem", "hunter2"},
      {"signing.key", "hunter2"},
      {"ca.key", "hunter2"},
  };
  for (const auto& [name, text] : rows) {
    SCOPED_TRACE(text);
    std::ifstream file(data.file(name));
    const std::string before((std::istreambuf_iterator<char>(file)), {});
    write(name, text);

    const auto loaded = load_identity(data);

    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().what().find("hunter2"), std::string::npos);
    write(name, before);
  }
  EXPECT_TRUE(load_identity(data).has_value());
}

TEST_F(HubDataTest, WhenTheDeploymentIsNoDnsName_ThenNothingIsMade) {
  for (const auto* name : {"", "Example", "a b", "10.0.0.1", "-a", "a..b"}) {
    SCOPED_TRACE(name);

    EXPECT_EQ(make(name).error().code(), ErrorCode::invalid);
  }
  EXPECT_FALSE(std::filesystem::exists(data.file("ca.key")));
}

// proves A3
TEST_F(HubDataTest, WhenServerCertificatesAreIssued_ThenTheyChainToTheAuthority) {
  const auto identity = make().value();
  const auto node = issue_node_side(identity.authority, identity.deployment, now, random).value();
  const auto people = issue_people_side(identity.authority,
                                        {identity.deployment, "hub.example.org", "192.0.2.7"}, now, random)
                          .value();
  for (const auto* side : {&node, &people}) {
    const auto chain = crypto::Certificate::parse_pem_bundle(side->chain_pem).value();

    ASSERT_EQ(chain.size(), 2U);
    EXPECT_TRUE(crypto::verify_certificate(chain[0], {&identity.authority.certificate(), 1},
                                           crypto::CertificateUse::tls_server, now)
                    .has_value());
    EXPECT_EQ(chain[1], identity.authority.certificate());
  }
}

}  // namespace
}  // namespace outhaul::hub
