#include "hub/nodes/enrolment.h"

#include <gtest/gtest.h>

#include "crypto/certificate_request.h"
#include "crypto/digest.h"
#include "crypto/fingerprint.h"
#include "http/json_reader.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;

// A machine that has drawn its keys.
struct Machine {
  explicit Machine(Random& random)
      : tls_key(crypto::TlsKey::generate().value()), signing_key(crypto::SigningKey::generate(random)) {}
  EnrolmentRequest request(const std::string& token, const std::string& name) const {
    EnrolmentRequest request;
    request.token = token;
    request.csr_pem = csr_pem;
    request.signing_key = signing_key.public_key();
    request.proof = signing_key.sign(crypto::enrolment_statement(token, csr_pem));
    request.name = name;
    return request;
  }
  crypto::TlsKey tls_key;
  crypto::SigningKey signing_key;
  std::string csr_pem = crypto::make_certificate_request(tls_key, "a machine").value();
};

class EnrolmentTest : public ::testing::Test {
 protected:
  EnrolmentService& service() { return world.hub().enrolment(); }
  std::string make_token(NodeTokenWish wish = {}) {
    wish.created_by = world.admin().account;
    const auto made = world.run(service().create_token(std::move(wish))).value();
    return std::string(made.token.reveal_for("a test"));
  }
  Result<Bytes> enrol(EnrolmentRequest request) { return world.run(service().enrol(std::move(request))); }
  ErrorCode refusal(EnrolmentRequest request) {
    const auto answer = enrol(std::move(request));
    return answer ? ErrorCode::internal : answer.error().code();
  }

  HubWorld world;
  Machine machine{world.random()};
};

// proves A2
TEST_F(EnrolmentTest, WhenATokenIsRedeemed_ThenTheAnswerHoldsTheNodesCertificatesAndTheHubsKeys) {
  const auto answer = enrol(machine.request(make_token(), "alpha")).value();

  auto json = http::JsonReader::parse(answer).value();
  const auto chain = crypto::Certificate::parse_pem_bundle(json.string("chain")).value();
  const auto signing = crypto::Certificate::parse_pem(json.string("signing_certificate")).value();
  const auto authorities = crypto::Certificate::parse_pem_bundle(json.string("ca_bundle")).value();
  const auto now = world.clock().wall_now();
  EXPECT_TRUE(
      crypto::verify_certificate(chain[0], authorities, crypto::CertificateUse::tls_client, now).has_value());
  EXPECT_TRUE(
      crypto::verify_certificate(signing, authorities, crypto::CertificateUse::signing, now).has_value());
  EXPECT_EQ(chain[0].spki(), machine.tls_key.spki());
  EXPECT_EQ(signing.ed25519_key(), machine.signing_key.public_key());
  EXPECT_EQ(chain[0].uri(), "spiffe://example.org/node/" + json.string("node_id"));
  EXPECT_EQ(signing.uri(), chain[0].uri());
  EXPECT_EQ(json.objects("hub_keys").size(), 1U);
}

// proves A1
TEST_F(EnrolmentTest, WhenTheSameKeysComeAgain_ThenTheAnswerIsTheSameUntilTheTokenExpires) {
  const auto token = make_token();
  const auto first = enrol(machine.request(token, "alpha")).value();

  EXPECT_EQ(enrol(machine.request(token, "alpha")).value(), first);
  world.pass(2h);

  EXPECT_EQ(refusal(machine.request(token, "alpha")), ErrorCode::enrolment_token_invalid);
}

// proves A1
TEST_F(EnrolmentTest, WhenTwoMachinesRaceForOneToken_ThenExactlyOneBecomesANode) {
  const auto token = make_token();
  const Machine other(world.random());
  std::vector<Result<Bytes>> answers;
  for (const Machine* racer : {static_cast<const Machine*>(&machine), &other}) {
    world.start(
        [&, request = racer->request(token, racer == &machine ? "alpha" : "beta")]() mutable -> Task<void> {
          answers.push_back(co_await service().enrol(std::move(request)));
        });
  }

  world.run_until([&answers] { return answers.size() == 2; });

  EXPECT_NE(answers[0].has_value(), answers[1].has_value());
  const auto& loser = answers[0] ? answers[1] : answers[0];
  EXPECT_EQ(loser.error().code(), ErrorCode::enrolment_token_invalid);
}

// proves A1
TEST_F(EnrolmentTest, WhenATokenIsMade_ThenOnlyItsHashIsStored) {
  const auto token = make_token();

  auto work = [token](store::ReadTransaction& tx) { return tx.enrolment_tokens.list({}); };
  const auto page = world.run(world.database().read(std::move(work))).value();

  ASSERT_EQ(page.rows.size(), 1U);
  EXPECT_EQ(page.rows[0].hash, crypto::sha256(token));
}

// proves A10
TEST_F(EnrolmentTest, WhenTheNameIsTaken_ThenTheTokenStaysUsable) {
  static_cast<void>(world.enrol("alpha"));
  const auto token = make_token();

  EXPECT_EQ(refusal(machine.request(token, "alpha")), ErrorCode::name_taken);
  EXPECT_TRUE(enrol(machine.request(token, "beta")).has_value());
}

TEST_F(EnrolmentTest, WhenARequestIsForged_ThenItIsRefusedAndNothingIsUsed) {
  const auto token = make_token();
  const Machine other(world.random());
  const auto good = machine.request(token, "alpha");
  struct Row {
    std::string why;
    std::function<void(EnrolmentRequest&)> change;
    ErrorCode code;
  };
  const Row rows[] = {
      {"unknown token", [](auto& r) { r.token = "ohe_example.org_" + std::string(43, 'A'); },
       ErrorCode::certificate_invalid},
      {"another deployment", [](auto& r) { r.token = "ohe_example.com_" + std::string(43, 'A'); },
       ErrorCode::enrolment_token_invalid},
      {"no token", [](auto& r) { r.token = "hunter2"; }, ErrorCode::enrolment_token_invalid},
      {"another's request", [&](auto& r) { r.csr_pem = other.csr_pem; }, ErrorCode::certificate_invalid},
      {"another's signing key", [&](auto& r) { r.signing_key = other.signing_key.public_key(); },
       ErrorCode::certificate_invalid},
      {"no proof", [](auto& r) { r.proof.clear(); }, ErrorCode::certificate_invalid},
      {"short key", [](auto& r) { r.signing_key.resize(31); }, ErrorCode::invalid},
      {"name of another form", [](auto& r) { r.name = "Alpha!"; }, ErrorCode::invalid},
      {"no name", [](auto& r) { r.name.clear(); }, ErrorCode::invalid},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    auto request = good;
    row.change(request);

    EXPECT_EQ(refusal(std::move(request)), row.code);
  }
  auto garbage = good;
  garbage.csr_pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
  garbage.proof = machine.signing_key.sign(crypto::enrolment_statement(token, garbage.csr_pem));
  EXPECT_EQ(refusal(garbage), ErrorCode::certificate_invalid);
  EXPECT_TRUE(enrol(good).has_value());
}

TEST_F(EnrolmentTest, WhenATokenIsUnknownButWellSigned_ThenItIsRefused) {
  const auto unknown = "ohe_example.org_" + std::string(43, 'A');

  EXPECT_EQ(refusal(machine.request(unknown, "alpha")), ErrorCode::enrolment_token_invalid);
}

TEST_F(EnrolmentTest, WhenAWishIsOutsideTheRules_ThenNoTokenIsMade) {
  NodeTokenWish bad_pool;
  bad_pool.pool = "a pool";
  NodeTokenWish bad_label;
  bad_label.labels = {{"1st", "x"}};
  NodeTokenWish bad_plane;
  bad_plane.planes = {"everything"};
  for (const auto& wish : {bad_pool, bad_label, bad_plane}) {
    EXPECT_EQ(world.run(service().create_token(wish)).error().code(), ErrorCode::invalid);
  }
}

// proves A9
TEST_F(EnrolmentTest, WhenATokenNeedsApproval_ThenNothingIsIssuedBeforeIt) {
  NodeTokenWish wish;
  wish.needs_approval = true;
  const auto request = machine.request(make_token(std::move(wish)), "alpha");
  EXPECT_EQ(refusal(request), ErrorCode::denied);

  const auto waiting = world.run(service().ask_approval(request)).value();

  ASSERT_TRUE(waiting.has_value());
  EXPECT_TRUE(waiting->is_new);
  const auto fingerprint = crypto::Fingerprint::of_spki(machine.tls_key.spki()).text();
  EXPECT_EQ(waiting->token.wish->fingerprint, fingerprint);
  EXPECT_EQ(refusal(request), ErrorCode::denied);
  // It is durable: a hub that dies asks nobody again.
  world.crash();
  world.boot();
  EXPECT_EQ(world.run(service().list_waiting()).value().size(), 1U);
  ASSERT_TRUE(world.run(service().decide(waiting->token.id, fingerprint, true)).has_value());
  EXPECT_FALSE(world.run(service().ask_approval(request)).value().has_value());
  // Of these keys only: the same TLS key with another signing key is somebody else.
  auto stolen = Machine(world.random());
  stolen.csr_pem = machine.csr_pem;
  EXPECT_EQ(refusal(stolen.request(request.token, "beta")), ErrorCode::denied);
  EXPECT_TRUE(enrol(request).has_value());
  EXPECT_TRUE(world.run(service().list_waiting()).value().empty());
  // A lost answer is given again.
  EXPECT_TRUE(enrol(request).has_value());
}

// proves A9
TEST_F(EnrolmentTest, WhenNobodyDecidesInTime_ThenTheTokenHasEnded) {
  NodeTokenWish wish;
  wish.needs_approval = true;
  const auto request = machine.request(make_token(std::move(wish)), "alpha");
  ASSERT_TRUE(world.run(service().ask_approval(request)).has_value());

  world.pass(2h);

  EXPECT_TRUE(world.run(service().list_waiting()).value().empty());
  EXPECT_EQ(world.run(service().ask_approval(request)).error().code(), ErrorCode::enrolment_token_invalid);
}

}  // namespace
}  // namespace outhaul::hub
