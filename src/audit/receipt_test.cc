#include "audit/receipt.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "outhaul/v1/audit.pb.h"
#include "outhaul/v1/task.pb.h"
#include "testing/audit_chain.h"
#include "testing/test_keys.h"

namespace outhaul::audit {
namespace {

using testing::ManualClock;
using testing::TestDeployment;

class ReceiptTest : public ::testing::Test {
 protected:
  ReceiptTest() : node(deployment.make_node()) {}

  Receipt sample() {
    Receipt receipt;
    receipt.task = deployment.make_id<TaskId>();
    receipt.node = node.identity().node;
    receipt.owner = deployment.make_id<AccountId>();
    receipt.task_sha256 = crypto::sha256("envelope");
    receipt.executable = "/usr/bin/true";
    receipt.executable_sha256 = crypto::sha256("true");
    receipt.end = "exited";
    receipt.exit_code = 3;
    receipt.accepted_at = ManualClock::default_start;
    receipt.started_at = ManualClock::default_start + std::chrono::seconds(1);
    receipt.ended_at = ManualClock::default_start + std::chrono::seconds(2);
    receipt.streams = {{"stdout", {5, crypto::sha256("hello")}}, {"stderr", {0, crypto::sha256("")}}};
    receipt.audit_head = testing::AuditChain(node.identity().node.text()).head();
    receipt.certificate = node.signing_certificate();
    return receipt;
  }
  static wire::TaskResult result_for(const Receipt& receipt) {
    wire::TaskResult result;
    result.task_id = receipt.task;
    result.end = wire::Exited{receipt.exit_code};
    result.started_at = receipt.started_at;
    result.ended_at = receipt.ended_at;
    result.out = receipt.streams[0].totals;
    result.err = receipt.streams[1].totals;
    result.isolation = receipt.isolation;
    return result;
  }
  NamedKey key() const { return {key_id_of(node.signing_key().public_key()), &node.signing_key()}; }

  TestDeployment deployment;
  testing::TestNodeKeys node;
};

// proves P4
TEST_F(ReceiptTest, WhenSignedByItsNode_ThenItHoldsWithNothingButTheAuthority) {
  const auto receipt = sample();

  const auto opened = open_receipt(sign_receipt(receipt, key()));

  ASSERT_TRUE(opened.has_value()) << opened.error().what();
  EXPECT_EQ(*opened, receipt);
  EXPECT_EQ(open_receipt(sign_receipt(receipt, key()), node.signing_key().verify_key()).value(), receipt);
  const crypto::Certificate authorities[] = {deployment.certificate()};
  EXPECT_TRUE(verify_receipt_signer(*opened, authorities).has_value());
  EXPECT_TRUE(match_result(*opened, result_for(receipt)).has_value());
}

// proves P4
TEST_F(ReceiptTest, WhenAnyByteIsChanged_ThenItDoesNotHold) {
  const auto receipt = sample();
  const auto signed_bytes = sign_receipt(receipt, key());
  const crypto::Certificate authorities[] = {deployment.certificate()};
  for (std::size_t at = 0; at < signed_bytes.size(); ++at) {
    SCOPED_TRACE(at);
    Bytes changed = signed_bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);

    const auto opened = open_receipt(changed);

    const auto by_key = open_receipt(changed, node.signing_key().verify_key());
    if (by_key) EXPECT_EQ(*by_key, receipt);
    // A byte outside of what is signed may be a hint that nobody needs; what is said stays the same.
    if (opened) EXPECT_EQ(*opened, receipt);
    if (opened) EXPECT_TRUE(verify_receipt_signer(*opened, authorities).has_value());
  }
}

TEST_F(ReceiptTest, WhenTheSignerIsSomebodyElse_ThenItIsRefused) {
  TestDeployment other(9);
  auto other_node = deployment.make_node();
  auto wrong_node = sample();
  wrong_node.certificate = other_node.signing_certificate();
  const crypto::Certificate authorities[] = {deployment.certificate()};
  const crypto::Certificate others[] = {other.certificate()};

  const auto impersonated = open_receipt(sign_receipt(wrong_node, key()));
  const auto by_other = open_receipt(sign_receipt(
      wrong_node, {key_id_of(other_node.signing_key().public_key()), &other_node.signing_key()}));
  const auto genuine = open_receipt(sign_receipt(sample(), key()));

  EXPECT_EQ(impersonated.error().code(), ErrorCode::task_signature_invalid);
  EXPECT_FALSE(
      open_receipt(sign_receipt(sample(), key()), other_node.signing_key().verify_key()).has_value());
  ASSERT_TRUE(by_other.has_value());
  EXPECT_EQ(verify_receipt_signer(*by_other, authorities).error().code(), ErrorCode::certificate_invalid);
  EXPECT_EQ(verify_receipt_signer(*genuine, others).error().code(), ErrorCode::certificate_invalid);
}

TEST_F(ReceiptTest, WhenTheResultSaysOtherwise_ThenTheFieldIsNamed) {
  const auto receipt = sample();
  struct Row {
    const char* field;
    void (*spoil)(wire::TaskResult&);
  };
  constexpr Row rows[] = {
      {"receipt: another task's", [](auto& r) { r.task_id = TaskId::assume("task_other"); }},
      {"receipt: end", [](auto& r) { r.end = wire::Signalled{9}; }},
      {"receipt: exit_code", [](auto& r) { r.end = wire::Exited{4}; }},
      {"receipt: stdout", [](auto& r) { r.out.bytes = 6; }},
      {"receipt: stderr", [](auto& r) { r.err.sha256.clear(); }},
      {"receipt: isolation", [](auto& r) { r.isolation = wire::IsolationLevel::native; }},
      {"receipt: times", [](auto& r) { r.ended_at = {}; }},
      {"receipt: times", [](auto& r) { r.started_at.reset(); }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.field);
    auto result = result_for(receipt);
    row.spoil(result);

    const auto matched = match_result(receipt, result);

    ASSERT_FALSE(matched.has_value());
    EXPECT_STREQ(matched.error().what().c_str(), row.field);
  }
}

TEST_F(ReceiptTest, WhenMessagesBreakARule_ThenTheyAreRefused) {
  struct Row {
    const char* name;
    void (*spoil)(v1::Receipt&);
  };
  constexpr Row rows[] = {
      {"task id", [](auto& m) { m.set_task_id("task_1"); }},
      {"node id", [](auto& m) { m.clear_node_id(); }},
      {"owner", [](auto& m) { m.set_owner("x"); }},
      {"task digest", [](auto& m) { m.set_task_sha256("short"); }},
      {"egress digest", [](auto& m) { m.set_egress_sha256("short"); }},
      {"executable digest", [](auto& m) { m.set_executable_sha256("short"); }},
      {"executable", [](auto& m) { m.set_executable(std::string(2000, '/')); }},
      {"isolation", [](auto& m) { m.set_isolation("none"); }},
      {"end", [](auto& m) { m.clear_end(); }},
      {"error code", [](auto& m) { m.set_error_code(std::string(65, 'x')); }},
      {"times", [](auto& m) { m.set_ended_at_ns(-1); }},
      {"stream kind", [](auto& m) { m.mutable_streams(0)->clear_kind(); }},
      {"stream digest", [](auto& m) { m.mutable_streams(0)->set_sha256("short"); }},
      {"head", [](auto& m) { m.mutable_audit_head()->clear_hash(); }},
      {"many streams",
       [](auto& m) {
         for (int i = 0; i < 9; ++i) m.add_streams()->set_kind("x");
       }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    v1::Envelope envelope;
    ASSERT_TRUE(envelope.ParseFromString(sign_receipt(sample(), key())));
    v1::Receipt message;
    ASSERT_TRUE(message.ParseFromString(envelope.payload()));
    row.spoil(message);
    envelope.set_payload(message.SerializeAsString());

    EXPECT_FALSE(assume_receipt(envelope.SerializeAsString()).has_value());
    EXPECT_FALSE(open_receipt(envelope.SerializeAsString()).has_value());
  }
}

}  // namespace
}  // namespace outhaul::audit
