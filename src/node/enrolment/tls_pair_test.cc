#include "node/enrolment/tls_pair.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "crypto/certificate_authority.h"
#include "crypto/certificate_request.h"
#include "crypto/data_files.h"
#include "http/json_writer.h"
#include "node/enrolment/https_renewal.h"
#include "testing/manual_clock.h"
#include "testing/scratch_directory.h"
#include "testing/seeded_random.h"

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = testing::ManualClock::default_start;

class TlsPairTest : public ::testing::Test {
 protected:
  crypto::Certificate issue(const crypto::TlsKey& key, const crypto::NodeIdentity& to, WallTime at = now) {
    const auto request =
        crypto::CertificateRequest::parse_pem(crypto::make_certificate_request(key, "sky141").value());
    return authority_.issue_node(*request, to, {at, 24h * 7}, random_).value();
  }
  // An enrolled directory; gives what identity.json and the files say.
  NodeKeys enrol() {
    auto keys = prepare_keys(data_, random_).value();
    enrolment_.node = self_.node;
    enrolment_.name = "sky141";
    enrolment_.deployment = self_.deployment;
    enrolment_.hub = "https://hub.example.org:8443";
    enrolment_.chain_pem = issue(keys.tls, self_).pem();
    enrolment_.signing_certificate_pem =
        authority_.issue_signing(keys.signing.verify_key(), self_, {now, 24h}, random_).value().pem();
    enrolment_.ca_pem = authority_.certificate().pem();
    const auto hub_key = crypto::SigningKey::generate(random_);
    enrolment_.hub_keys.push_back({KeyId::make(now, random_), hub_key.public_key()});
    EXPECT_TRUE(save_identity(data_, keys, enrolment_).has_value());
    return keys;
  }
  TlsPair renew(WallTime at = now) {
    auto key = prepare_next_key(data_, "no key").value();
    auto chain = issue(key, self_, at).pem();
    return make_tls_pair(std::move(key), std::move(chain)).value();
  }

  testing::SeededRandom random_{7};
  testing::ScratchDirectory scratch_;
  crypto::DataDirectory data_ =
      crypto::DataDirectory::create_or_open(scratch_.file("data"), crypto::DataOwner::node).value();
  crypto::CertificateAuthority authority_ =
      crypto::CertificateAuthority::make("test authority", {now, 24h * 365}, random_).value();
  crypto::NodeIdentity self_{"example.org", NodeId::make(now, random_)};
  Enrolment enrolment_;
};

// proves A4
TEST_F(TlsPairTest, WhenARenewalIsSaved_ThenTheNextStartUsesItWholeAndForTheOwnerAlone) {
  const auto keys = enrol();
  const auto pair = renew(now + 24h * 5);

  ASSERT_TRUE(save_renewed_pair(data_, pair).has_value());
  const auto identity = Identity::load(data_).value();

  EXPECT_EQ(identity.certificate(), pair.certificate);
  EXPECT_NE(identity.certificate().spki(), keys.tls.spki());
  EXPECT_EQ(crypto::TlsKey::parse_pem(identity.tls_key_pem())->spki(), pair.key.spki());
  EXPECT_FALSE(identity.damage().has_value());
  EXPECT_FALSE(std::filesystem::exists(data_.file("next.key")));
  struct stat facts{};
  ASSERT_EQ(stat(data_.file("renewed.pem").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

// Every state in which a crash can leave the directory.
TEST_F(TlsPairTest, WhenTheNodeDiesAtAnyPointOfARenewal_ThenItsIdentityWorks) {
  const auto keys = enrol();
  EXPECT_EQ(Identity::load(data_)->certificate().spki(), keys.tls.spki());

  const auto first = renew();  // the key is drawn, and perhaps the hub has answered
  EXPECT_EQ(Identity::load(data_)->certificate().spki(), keys.tls.spki());

  std::ofstream(data_.file("renewed.pem.tmp")) << "half of a chain";
  EXPECT_EQ(Identity::load(data_)->certificate().spki(), keys.tls.spki());

  ASSERT_TRUE(save_renewed_pair(data_, first).has_value());
  EXPECT_EQ(Identity::load(data_)->certificate(), first.certificate);

  // Died before the next key was removed: it is not used for another renewal.
  ASSERT_TRUE(
      crypto::write_private_file(data_.file("next.key"), first.key.pem().reveal_for("a test")).has_value());
  EXPECT_NE(prepare_next_key(data_, first.key.spki())->spki(), first.key.spki());
  EXPECT_EQ(Identity::load(data_)->certificate(), first.certificate);
}

TEST_F(TlsPairTest, WhenAnAnswerWasLost_ThenTheSameKeyIsAskedForAgain) {
  enrol();

  const auto first = prepare_next_key(data_, "another").value();
  const auto second = prepare_next_key(data_, "another").value();

  EXPECT_EQ(first.spki(), second.spki());
}

TEST_F(TlsPairTest, WhenTheNewestPairIsDamaged_ThenTheEnrolledOneIsUsedAndTheDamageIsNamed) {
  const auto keys = enrol();
  const auto pair = renew();
  const auto whole = pair.chain_pem + std::string(pair.key.pem().reveal_for("a test"));
  const crypto::NodeIdentity other{"example.org", NodeId::make(now, random_)};
  const auto stranger = issue(pair.key, other).pem() + std::string(pair.key.pem().reveal_for("a test"));
  const auto mixed = pair.chain_pem + std::string(keys.tls.pem().reveal_for("a test"));
  for (const auto& text :
       {std::string(), whole.substr(0, whole.size() / 2), pair.chain_pem, stranger, mixed}) {
    SCOPED_TRACE(text.size());
    ASSERT_TRUE(crypto::write_private_file(data_.file("renewed.pem"), text).has_value());

    const auto identity = Identity::load(data_).value();

    EXPECT_EQ(identity.certificate().spki(), keys.tls.spki());
    EXPECT_TRUE(identity.damage().has_value());
  }
}

// proves A10
TEST_F(TlsPairTest, WhenOthersMayReadOneOfTheKeys_ThenNothingIsLoaded) {
  enrol();
  ASSERT_TRUE(save_renewed_pair(data_, renew()).has_value());
  for (const char* name : {"renewed.pem", "tls.key"}) {
    SCOPED_TRACE(name);
    std::filesystem::permissions(data_.file(name), std::filesystem::perms(0640));

    const auto identity = Identity::load(data_);

    ASSERT_FALSE(identity.has_value());
    EXPECT_EQ(identity.error().code(), ErrorCode::file_permissions_loose);
    std::filesystem::permissions(data_.file(name), std::filesystem::perms(0600));
  }
}

TEST_F(TlsPairTest, WhenTheHubsAnswerDoesNotFit_ThenItIsRefused) {
  enrol();
  const auto key = [] { return crypto::TlsKey::generate().value(); };
  auto own_key = key();
  const auto asked = own_key.pem();
  const auto json_of = [](const std::string& chain) {
    http::JsonWriter json;
    json.begin_object().field("chain", chain).end_object();
    return std::move(json).take_text();
  };
  const auto answer = [&](const std::string& json) {
    return parse_renewal_answer(json, crypto::TlsKey::parse_pem(asked).value(), enrolment_);
  };
  auto stranger_random = testing::SeededRandom(9);
  const auto stranger =
      crypto::CertificateAuthority::make("other", {now, 24h * 365}, stranger_random).value();
  const auto request =
      crypto::CertificateRequest::parse_pem(crypto::make_certificate_request(own_key, "a").value());
  const crypto::NodeIdentity other{"example.org", NodeId::make(now, random_)};
  const std::pair<const char*, std::string> rows[] = {
      {"no JSON", "x"},
      {"no chain", "{}"},
      {"no certificate", json_of("x")},
      {"another key", json_of(issue(key(), self_).pem())},
      {"another node", json_of(issue(own_key, other).pem())},
      {"another authority",
       json_of(stranger.issue_node(*request, self_, {now, 24h}, stranger_random)->pem())},
  };
  for (const auto& [reason, json] : rows) {
    SCOPED_TRACE(reason);
    EXPECT_FALSE(answer(json).has_value());
  }
  EXPECT_TRUE(answer(json_of(issue(own_key, self_).pem() + authority_.certificate().pem())).has_value());
}

}  // namespace
}  // namespace outhaul::node
