#include "hub/nodes/renewal.h"

#include <gtest/gtest.h>

#include "crypto/certificate_request.h"
#include "crypto/digest.h"
#include "http/json_reader.h"
#include "hub/nodes/enrolment.h"
#include "hub/nodes/node_service.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;
using testing::ScriptNode;

// A node that enrolled through the real service and keeps its TLS certificate.
struct Machine {
  explicit Machine(HubWorld& world) : signing_key(crypto::SigningKey::generate(world.random())) {
    NodeTokenWish wish;
    wish.created_by = world.admin().account;
    auto& enrolment = world.hub().enrolment();
    const auto token = world.run(enrolment.create_token(std::move(wish))).value();
    request.token = std::string(token.token.reveal_for("a test"));
    request.csr_pem = csr_for(crypto::TlsKey::generate().value());
    request.signing_key = signing_key.public_key();
    request.proof = signing_key.sign(crypto::enrolment_statement(request.token, request.csr_pem));
    request.name = "alpha";
    auto json = http::JsonReader::parse(world.run(enrolment.enrol(request)).value()).value();
    certificate = crypto::Certificate::parse_pem_bundle(json.string("chain"))->front();
    id = NodeId::assume(json.string("node_id"));
  }
  static std::string csr_for(const crypto::TlsKey& key) {
    return crypto::make_certificate_request(key, "a machine").value();
  }
  RenewalRequest renewal(const std::string& csr_pem) const {
    const auto& der = certificate->der();
    return {der, csr_pem, signing_key.sign(crypto::renewal_statement(der, csr_pem))};
  }

  crypto::SigningKey signing_key;
  EnrolmentRequest request;
  std::optional<crypto::Certificate> certificate;
  NodeId id;
};

class RenewalTest : public ::testing::Test {
 protected:
  Result<crypto::Certificate> renew(RenewalRequest request) {
    OUTHAUL_TRY(answer, world.run(world.hub().renewal().renew(std::move(request))));
    OUTHAUL_TRY(json, http::JsonReader::parse(answer));
    return crypto::Certificate::parse_pem_bundle(json.string("chain"))->front();
  }
  // "none", or the reason, or the code of a refusal without one.
  std::string refusal(RenewalRequest request) {
    const auto renewed = renew(std::move(request));
    if (renewed) return "none";
    const auto& details = renewed.error().details();
    return details.empty() ? std::string(name_of(renewed.error().code())) : details.front().value;
  }
  store::NodeRow row() {
    auto work = [id = machine.id](store::ReadTransaction& tx) { return tx.nodes.find(id); };
    return world.run(world.database().read(std::move(work))).value().value();
  }
  void rotate() { ASSERT_TRUE(world.run(world.hub().renewal().rotate("alpha")).has_value()); }

  HubWorld world;
  Machine machine{world};
  crypto::TlsKey next_key = crypto::TlsKey::generate().value();
  std::string next_csr = Machine::csr_for(next_key);
};

// proves A4
TEST_F(RenewalTest, WhenANodeRenews_ThenItsNewKeyIsCertifiedForAWholeLifeAndTheRowSaysSo) {
  world.pass(24h * 5);

  const auto renewed = renew(machine.renewal(next_csr)).value();

  EXPECT_EQ(renewed.spki(), next_key.spki());
  EXPECT_EQ(renewed.uri(), machine.certificate->uri());
  EXPECT_NE(renewed.serial(), machine.certificate->serial());
  EXPECT_GT(renewed.not_after() - world.clock().wall_now(), 24h * 7 - 1min);
  EXPECT_EQ(row().certificate.serial, renewed.serial());
  EXPECT_EQ(row().certificate.fingerprint, crypto::sha256_hex(next_key.spki()));
  EXPECT_EQ(row().certificate.expires_at, renewed.not_after());
}

TEST_F(RenewalTest, WhenTheAnswerWasLost_ThenTheOldCertificateMayAskAgainForTheSameKey) {
  ASSERT_TRUE(renew(machine.renewal(next_csr)).has_value());

  EXPECT_TRUE(renew(machine.renewal(next_csr)).has_value());
}

// proves A4
TEST_F(RenewalTest, WhenTheCertificateHasEnded_ThenItMayRenewForThirtyDays) {
  world.pass(24h * 36);
  EXPECT_EQ(refusal(machine.renewal(next_csr)), "none");

  world.pass(24h * 2);

  EXPECT_EQ(refusal(machine.renewal(next_csr)), "expired");
}

// proves A6
TEST_F(RenewalTest, WhenTheNodeWasRemoved_ThenItIsNeitherRenewedNorGivenItsEnrolmentAgain) {
  ASSERT_TRUE(world.run(world.hub().nodes().remove("alpha")).has_value());

  EXPECT_EQ(refusal(machine.renewal(next_csr)), "node_removed");
  const auto replayed = world.run(world.hub().enrolment().enrol(machine.request));
  ASSERT_FALSE(replayed.has_value());
  EXPECT_EQ(replayed.error().code(), ErrorCode::node_removed);
  EXPECT_EQ(row().state, store::NodeState::removed);
  EXPECT_EQ(row().certificate.serial, machine.certificate->serial());

  world.crash();
  world.boot();
  EXPECT_EQ(refusal(machine.renewal(next_csr)), "node_removed");
}

// proves A6
TEST_F(RenewalTest, WhenARemovalComesBetween_ThenTheDatabaseDecidesAndNoCertificateIsGiven) {
  std::optional<Result<Bytes>> renewed;
  std::optional<Result<void>> removed;
  world.start([&]() -> Task<void> { removed = co_await world.hub().nodes().remove("alpha"); });
  world.start([&, request = machine.renewal(next_csr)]() mutable -> Task<void> {
    renewed = co_await world.hub().renewal().renew(std::move(request));
  });

  world.run_until([&] { return renewed && removed; });

  EXPECT_TRUE(removed->has_value());
  ASSERT_FALSE(renewed->has_value());
  EXPECT_EQ(renewed->error().code(), ErrorCode::node_removed);
  EXPECT_EQ(row().certificate.serial, machine.certificate->serial());
}

// proves A4
TEST_F(RenewalTest, WhenAnythingOfTheRequestDoesNotHold_ThenItIsRefused) {
  const auto other = crypto::SigningKey::generate(world.random());
  const auto& der = machine.certificate->der();
  const auto foreign = world.enrol("beta");
  const auto other_csr = Machine::csr_for(crypto::TlsKey::generate().value());
  const std::pair<const char*, RenewalRequest> rows[] = {
      {"another signing key", {der, next_csr, other.sign(crypto::renewal_statement(der, next_csr))}},
      {"a proof for another request", {der, other_csr, machine.renewal(next_csr).proof}},
      {"an enrolment's proof",
       {der, next_csr, machine.signing_key.sign(crypto::enrolment_statement(der, next_csr))}},
      {"no proof", {der, next_csr, ""}},
      {"no request", machine.renewal("hunter2")},
      {"no certificate", {"", next_csr, ""}},
      {"a certificate for signing",
       {foreign->certificate, next_csr,
        foreign->key.sign(crypto::renewal_statement(foreign->certificate, next_csr))}},
  };
  for (const auto& [reason, request] : rows) {
    SCOPED_TRACE(reason);
    EXPECT_EQ(refusal(request), "certificate_invalid");
  }
  EXPECT_EQ(row().certificate.serial, machine.certificate->serial());
}

// proves A6
TEST_F(RenewalTest, WhenARotationIsDone_ThenWhoeverHoldsTheOldKeysIsShutOut) {
  rotate();
  EXPECT_TRUE(row().rotation.is_pending());

  const auto renewed = renew(machine.renewal(next_csr)).value();

  EXPECT_FALSE(row().rotation.is_pending());
  const auto thiefs = Machine::csr_for(crypto::TlsKey::generate().value());
  EXPECT_EQ(refusal(machine.renewal(thiefs)), "revoked");
  EXPECT_EQ(refusal(machine.renewal(next_csr)), "none");
  machine.certificate = renewed;
  EXPECT_EQ(refusal(machine.renewal(thiefs)), "none");
}

// proves A6
TEST_F(RenewalTest, WhenARotationIsAskedFor_ThenAnAttachedNodeHearsItAtOnceAndAnAbsentOneWhenItComes) {
  const auto beta = world.enrol("beta");
  ScriptNode node(world, beta);
  const auto asked = [&] {
    return std::ranges::count_if(node.controls(),
                                 [](const auto& control) { return control.has_renew_certificate(); });
  };
  ASSERT_TRUE(node.attach());
  ASSERT_TRUE(world.run(world.hub().renewal().rotate("beta")).has_value());
  world.pass(1s);
  EXPECT_EQ(asked(), 1);

  node.cut();
  ASSERT_TRUE(node.attach());
  world.pass(1s);

  EXPECT_EQ(asked(), 2);
  EXPECT_EQ(world.run(world.hub().renewal().rotate("nobody")).error().code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace outhaul::hub
