#include "node/enrolment/identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "crypto/certificate_authority.h"
#include "crypto/statement.h"
#include "node/enrolment/enrolment_json.h"
#include "testing/manual_clock.h"
#include "testing/scratch_directory.h"
#include "testing/seeded_random.h"

namespace outhaul::node {
namespace {

const crypto::Validity validity{testing::ManualClock::default_start, std::chrono::hours(24)};

class IdentityTest : public ::testing::Test {
 protected:
  Enrolment make_enrolment(const NodeKeys& keys) {
    Enrolment enrolment;
    enrolment.node = NodeId::make(testing::ManualClock::default_start, random_);
    enrolment.name = "sky141";
    enrolment.deployment = "example.org";
    enrolment.hub = "https://hub.example.org:8443";
    const crypto::NodeIdentity identity{enrolment.deployment, enrolment.node};
    const auto request =
        crypto::CertificateRequest::parse_pem(crypto::make_certificate_request(keys.tls, "sky141").value());
    enrolment.chain_pem = authority_.issue_node(*request, identity, validity, random_).value().pem();
    enrolment.signing_certificate_pem =
        authority_.issue_signing(keys.signing.verify_key(), identity, validity, random_).value().pem();
    enrolment.ca_pem = authority_.certificate().pem();
    const auto hub_key = crypto::SigningKey::generate(random_);
    enrolment.hub_keys.push_back(
        {KeyId::make(testing::ManualClock::default_start, random_), hub_key.public_key()});
    return enrolment;
  }
  crypto::DataDirectory open() {
    return crypto::DataDirectory::create_or_open(scratch_.file("data"), crypto::DataOwner::node).value();
  }

  testing::SeededRandom random_{7};
  testing::ScratchDirectory scratch_;
  crypto::CertificateAuthority authority_ =
      crypto::CertificateAuthority::make("test authority", validity, random_).value();
};

// proves A2
TEST_F(IdentityTest, WhenSaved_ThenItLoadsAgainAndItsKeysAreForTheOwnerAlone) {
  const auto data = open();
  const auto keys = prepare_keys(data, random_).value();
  const auto enrolment = make_enrolment(keys);

  ASSERT_TRUE(save_identity(data, keys, enrolment).has_value());
  const auto identity = Identity::load(data);

  ASSERT_TRUE(identity.has_value()) << identity.error().what();
  EXPECT_EQ(identity->enrolment().node, enrolment.node);
  EXPECT_EQ(identity->enrolment().hub, enrolment.hub);
  ASSERT_EQ(identity->hub_keys().size(), 1U);
  EXPECT_TRUE(keys.signing.verify_key().verify(crypto::hello_statement("nonce", "spki"),
                                               identity->sign_hello("nonce", "spki")));
  for (const char* name : {"tls.key", "signing.key", "identity.json"}) {
    struct stat facts{};
    ASSERT_EQ(stat(data.file(name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << name;
  }
}

// proves A10
TEST_F(IdentityTest, WhenAnIdentityExists_ThenItIsNeitherReplacedNorGivenNewKeys) {
  const auto data = open();
  const auto keys = prepare_keys(data, random_).value();
  ASSERT_TRUE(save_identity(data, keys, make_enrolment(keys)).has_value());

  const auto again = prepare_keys(data, random_);
  const auto saved = save_identity(data, keys, make_enrolment(keys));

  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), ErrorCode::identity_exists);
  ASSERT_FALSE(saved.has_value());
  EXPECT_EQ(saved.error().code(), ErrorCode::identity_exists);
}

// proves A10
TEST_F(IdentityTest, WhenOthersMayReadAKey_ThenItIsRefused) {
  const auto data = open();
  const auto keys = prepare_keys(data, random_).value();
  ASSERT_TRUE(save_identity(data, keys, make_enrolment(keys)).has_value());
  std::filesystem::permissions(data.file("signing.key"), std::filesystem::perms(0640));

  const auto identity = Identity::load(data);

  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error().code(), ErrorCode::file_permissions_loose);
}

TEST_F(IdentityTest, WhenAnEnrolmentGotNoAnswer_ThenTheNextTryShowsTheSameKeys) {
  const auto data = open();
  const auto first = prepare_keys(data, random_).value();

  const auto second = prepare_keys(data, random_).value();

  EXPECT_EQ(first.signing.public_key(), second.signing.public_key());
  EXPECT_EQ(first.tls.spki(), second.tls.spki());
}

TEST_F(IdentityTest, WhenTheCertificatesAreForOtherKeys_ThenNothingIsSaved) {
  const auto data = open();
  const auto keys = prepare_keys(data, random_).value();
  const NodeKeys others{crypto::TlsKey::generate().value(), crypto::SigningKey::generate(random_)};

  const auto saved = save_identity(data, keys, make_enrolment(others));

  ASSERT_FALSE(saved.has_value());
  EXPECT_EQ(saved.error().code(), ErrorCode::certificate_invalid);
  EXPECT_FALSE(std::filesystem::exists(data.file("identity.json")));
}

TEST_F(IdentityTest, WhenNotEnrolledOrDamaged_ThenTheErrorSaysWhich) {
  const auto data = open();
  EXPECT_EQ(Identity::load(data).error().code(), ErrorCode::not_found);

  const auto keys = prepare_keys(data, random_).value();
  ASSERT_TRUE(save_identity(data, keys, make_enrolment(keys)).has_value());
  std::ofstream(data.file("identity.json")) << "{\"version\": 2}";

  EXPECT_EQ(Identity::load(data).error().code(), ErrorCode::store_corrupt);
}

// proves A11
TEST_F(IdentityTest, WhenTheNodeHasLeft_ThenItsKeysAreGoneAndNoNodeIsMadeThereAgain) {
  const auto data = open();
  const auto keys = prepare_keys(data, random_).value();
  ASSERT_TRUE(save_identity(data, keys, make_enrolment(keys)).has_value());
  ASSERT_TRUE(is_enrolled(data.path()));

  ASSERT_TRUE(retire_identity(data).has_value());

  EXPECT_FALSE(is_enrolled(data.path()));
  EXPECT_EQ(Identity::load(data).error().code(), ErrorCode::not_found);
  for (const char* key : {"tls.key", "signing.key", "renewed.pem", "next.key"}) {
    EXPECT_FALSE(std::filesystem::exists(data.file(key))) << key;
  }
  EXPECT_EQ(prepare_keys(data, random_).error().code(), ErrorCode::identity_exists);
}

TEST(EnrolmentAnswer, WhenFieldsAreMissingOrWrong_ThenItIsInvalid) {
  const std::string rejected[] = {
      "",
      "[]",
      "{}",
      R"({"node_id": "node_x"})",
      R"({"node_id":"node_01hzzzzzzzzzzzzzzzzzzzzzzz","name":"a","deployment":"10.0.0.1","chain":"c","signing_certificate":"s","ca_bundle":"b","hub_keys":[]})",
      R"({"node_id":"node_01hzzzzzzzzzzzzzzzzzzzzzzz","name":"a","deployment":"example.org","chain":"c","signing_certificate":"s","ca_bundle":"b","hub_keys":[{"key_id":"k","public_key":"AAAA"}]})",
  };
  for (const auto& json : rejected) {
    SCOPED_TRACE(json);
    const auto enrolment = parse_enrolment_answer(json);
    ASSERT_FALSE(enrolment.has_value());
    EXPECT_EQ(enrolment.error().code(), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace outhaul::node
