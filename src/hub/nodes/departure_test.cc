// Nodes that leave by themselves, and ephemeral ones that stay away.
#include "hub/nodes/departure.h"

#include <gtest/gtest.h>

#include "crypto/certificate_request.h"
#include "crypto/statement.h"
#include "http/json_reader.h"
#include "hub/nodes/enrolment.h"
#include "store/memory_tables.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::EnrolledNode;
using testing::HubWorld;
using testing::ScriptNode;

// A machine that enrolled through the real service.
struct Machine {
  Machine(HubWorld& world, const std::string& name, bool is_ephemeral)
      : key(crypto::SigningKey::generate(world.random())) {
    NodeTokenWish wish;
    wish.created_by = world.admin().account;
    const auto token = world.run(world.hub().enrolment().create_token(std::move(wish))).value();
    EnrolmentRequest request;
    request.token = std::string(token.token.reveal_for("a test"));
    request.csr_pem = crypto::make_certificate_request(crypto::TlsKey::generate().value(), name).value();
    request.signing_key = key.public_key();
    request.proof = key.sign(crypto::enrolment_statement(request.token, request.csr_pem));
    request.name = name;
    request.is_ephemeral = is_ephemeral;
    auto json = http::JsonReader::parse(world.run(world.hub().enrolment().enrol(request)).value()).value();
    certificate = crypto::Certificate::parse_pem_bundle(json.string("chain"))->front().der();
    signing = crypto::Certificate::parse_pem(json.string("signing_certificate"))->der();
    id = NodeId::assume(json.string("node_id"));
  }
  DepartureRequest departure() const { return {certificate, key.sign(crypto::leave_statement(certificate))}; }
  std::shared_ptr<EnrolledNode> identity() const {
    return std::make_shared<EnrolledNode>(id, crypto::SigningKey::parse_pem(key.pem()).value(), signing);
  }

  crypto::SigningKey key;
  Bytes certificate;
  Bytes signing;
  NodeId id;
};

class DepartureTest : public ::testing::Test {
 protected:
  // "none", or the code of the refusal.
  std::string leave(DepartureRequest request) {
    const auto left = world.run(world.hub().departure().leave(std::move(request)));
    return left ? "none" : std::string(name_of(left.error().code()));
  }
  bool is_known(const std::string& name) { return world.hub().nodes().find(name).has_value(); }

  HubWorld world;
};

// proves A11
TEST_F(DepartureTest, WhenANodeLeaves_ThenItIsRemovedAndItsSessionCut) {
  Machine machine(world, "alpha", true);
  ScriptNode node(world, machine.identity());
  ASSERT_TRUE(node.attach());

  EXPECT_EQ(leave(machine.departure()), "none");

  EXPECT_FALSE(is_known("alpha"));
  world.pass(1s);
  EXPECT_FALSE(node.is_attached());
  EXPECT_FALSE(node.attach());
  EXPECT_EQ(node.failure()->code(), ErrorCode::node_removed);
  // A lost answer: it asks again and learns that it is gone.
  EXPECT_EQ(leave(machine.departure()), "node_removed");
}

// proves A11
TEST_F(DepartureTest, WhenTheProofIsNotTheNodes_ThenNobodyIsRemoved) {
  const Machine alpha(world, "alpha", true);
  const Machine beta(world, "beta", false);
  const auto renewal = alpha.key.sign(crypto::renewal_statement(alpha.certificate, ""));
  const DepartureRequest refused[] = {
      {alpha.certificate, ""},
      {alpha.certificate, beta.key.sign(crypto::leave_statement(alpha.certificate))},
      {alpha.certificate, alpha.key.sign(crypto::leave_statement(beta.certificate))},
      {alpha.certificate, renewal},
      {alpha.signing, alpha.key.sign(crypto::leave_statement(alpha.signing))},
      {beta.certificate, alpha.departure().proof},
  };
  for (const auto& request : refused) EXPECT_EQ(leave(request), "certificate_invalid");
  EXPECT_NE(leave({"no certificate", ""}), "none");

  EXPECT_TRUE(is_known("alpha"));
  EXPECT_TRUE(is_known("beta"));
}

TEST_F(DepartureTest, WhenTheCertificateHasEnded_ThenItIsRefused) {
  const Machine machine(world, "alpha", false);
  world.pass(24h * 8);

  EXPECT_EQ(leave(machine.departure()), "certificate_invalid");
}

// proves A11
TEST_F(DepartureTest, WhenAnEphemeralNodeStaysAway_ThenItIsRemovedInTimeAndItsTasksAreLost) {
  Machine machine(world, "short", true);
  Machine kept(world, "kept", false);
  ScriptNode node(world, machine.identity());
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto task = world.run(world.hub().tasks().submit(world.order({"true"}))).value();
  world.pass(10min);
  ASSERT_TRUE(is_known("short"));

  node.cut();
  world.pass(4min);
  EXPECT_TRUE(is_known("short"));
  world.pass(2min);

  EXPECT_FALSE(is_known("short"));
  EXPECT_TRUE(is_known("kept"));
  auto work = [id = task.task](store::ReadTransaction& tx) { return tx.tasks.find(id); };
  EXPECT_EQ(world.run(world.database().read(std::move(work))).value()->state, store::TaskState::lost);
}

// proves A11
TEST_F(DepartureTest, WhenAnEphemeralNodeComesAndGoes_ThenOnlyAnAbsenceInOnePieceCounts) {
  Machine machine(world, "short", true);
  ScriptNode node(world, machine.identity());
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(node.attach());
    world.pass(10s);
    node.cut();
    world.pass(4min);
    ASSERT_TRUE(is_known("short"));
  }
  // The hub's own absence is nobody else's: a new process begins to wait anew.
  world.crash();
  world.boot();
  world.pass(4min);
  EXPECT_TRUE(is_known("short"));
  world.pass(2min);
  EXPECT_FALSE(is_known("short"));
}

// proves A6
TEST_F(DepartureTest, WhenAHubHasNoRecordOfANode_ThenItDoesNotSayThatTheNodeWasRemoved) {
  Machine machine(world, "alpha", false);
  ScriptNode node(world, machine.identity());
  ASSERT_TRUE(node.attach());
  node.cut();
  // As a hub that was restored from a backup of before the enrolment.
  world.crash();
  world.tables().nodes.erase(machine.id);
  world.boot();

  EXPECT_FALSE(node.attach());

  EXPECT_EQ(node.failure()->code(), ErrorCode::node_unknown);
  EXPECT_EQ(leave(machine.departure()), "node_unknown");
}

// proves A11
TEST_F(DepartureTest, WhenAnEphemeralNodeNeverAttached_ThenItGoesToo) {
  const Machine machine(world, "short", true);

  world.pass(6min);

  EXPECT_FALSE(is_known("short"));
}

}  // namespace
}  // namespace outhaul::hub
