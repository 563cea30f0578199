#include "audit/receipt_file.h"

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "testing/audit_chain.h"
#include "testing/test_keys.h"

namespace outhaul::audit {
namespace {

using testing::ManualClock;

class ReceiptFileTest : public ::testing::Test {
 protected:
  ReceiptFileTest() {
    wire::TaskSpec spec;
    spec.task_id = deployment.make_id<TaskId>();
    spec.issuer = deployment.name();
    spec.audience = node.identity().node;
    spec.owner = deployment.make_id<AccountId>();
    spec.issued_at = ManualClock::default_start;
    spec.expires_at = ManualClock::default_start + std::chrono::minutes(5);
    spec.nonce = Bytes(wire::task_nonce_bytes, 'n');
    spec.workspace = "default";
    spec.stream_id = deployment.make_id<StreamId>();
    spec.action = wire::ArgvAction{{"true"}};
    const auto hub_key = crypto::SigningKey::generate(deployment.random());
    file.task_envelope = wire::sign_task(spec, deployment.make_id<KeyId>(), hub_key).value();
    file.authority = deployment.certificate().der();
    receipt.task = spec.task_id;
    receipt.node = spec.audience;
    receipt.owner = spec.owner;
    receipt.task_sha256 = crypto::sha256(file.task_envelope);
    receipt.end = "exited";
    receipt.ended_at = ManualClock::default_start + std::chrono::seconds(2);
    receipt.certificate = node.signing_certificate();
    sign();
  }
  void sign() {
    const auto& key = node.signing_key();
    file.receipt = sign_receipt(receipt, {key_id_of(key.public_key()), &key});
  }
  crypto::Fingerprint anchor() const { return crypto::Fingerprint::of_spki(deployment.certificate().spki()); }

  testing::TestDeployment deployment;
  testing::TestNodeKeys node = deployment.make_node();
  Receipt receipt;
  ReceiptFile file;
};

// proves P4
TEST_F(ReceiptFileTest, WhenSavedAndReadBack_ThenItVerifiesAgainstTheFingerprintAlone) {
  const auto read = parse_receipt_file(serialise_receipt_file(file));
  ASSERT_TRUE(read.has_value()) << read.error().what();

  const auto check = verify_receipt_file(*read, anchor());

  ASSERT_TRUE(check.has_value()) << check.error().what();
  EXPECT_EQ(check->receipt, receipt);
  EXPECT_EQ(check->signer, node.identity().uri());
  EXPECT_TRUE(check->is_anchored);
  ASSERT_TRUE(check->task.has_value());
  EXPECT_EQ(check->task->task_id, receipt.task);
}

// proves P4
TEST_F(ReceiptFileTest, WhenAnyPartIsAnothers_ThenTheCheckThatFailsIsNamed) {
  const testing::TestDeployment other(5);
  auto other_task = file;
  other_task.task_envelope += "x";
  auto other_authority = file;
  other_authority.authority = other.certificate().der();
  auto no_authority = file;
  no_authority.authority.clear();
  receipt.owner = deployment.make_id<AccountId>();
  sign();
  const auto other_owner = file;

  EXPECT_EQ(verify_receipt_file(other_task, anchor()).error().code(), ErrorCode::protocol_violation);
  EXPECT_EQ(verify_receipt_file(other_authority, anchor()).error().code(),
            ErrorCode::ca_fingerprint_mismatch);
  EXPECT_EQ(verify_receipt_file(other_authority, std::nullopt).error().code(),
            ErrorCode::certificate_invalid);
  EXPECT_EQ(verify_receipt_file(no_authority, anchor()).error().code(), ErrorCode::certificate_invalid);
  EXPECT_EQ(verify_receipt_file(other_owner, anchor()).error().code(), ErrorCode::protocol_violation);
}

TEST_F(ReceiptFileTest, WhenTheTextIsNoReceipt_ThenTheMemberIsNamed) {
  const char* rows[] = {"",
                        "[]",
                        "{}",
                        R"({"payloadType":1})",
                        R"({"payloadType":"t","payload":"!"})",
                        R"({"payloadType":"t","payload":"","signatures":{}})",
                        R"({"payloadType":"t","payload":"","signatures":[1]})",
                        R"({"payloadType":"t","payload":"","signatures":[{"keyid":"k"}]})",
                        R"({"payloadType":"t","payload":"","signatures":[],"authority":"!"})",
                        R"({"payloadType":"t","payload":"","signatures":[],"task":7})"};
  for (const char* row : rows) {
    const auto read = parse_receipt_file(row);
    ASSERT_FALSE(read.has_value()) << row;
    EXPECT_EQ(read.error().code(), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace outhaul::audit
