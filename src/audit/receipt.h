// Receipt: what a node states under its signature about one task that it ran: the digest of the signed task,
// what ran and at which isolation, what came out, how and when it ended, and where the node's audit log
// stood. Source: docs/protocol.md, "Receipts". Pure; no strand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/head.h"
#include "crypto/certificate.h"
#include "wire/task_result.h"

namespace outhaul::audit {

inline constexpr std::string_view receipt_payload_type = "application/vnd.outhaul.receipt.v1+protobuf";
using wire::max_receipt_bytes;  // of the signed form

struct ReceiptStream {
  std::string kind;  // "stdout" or "stderr"
  wire::StreamTotals totals;
  bool operator==(const ReceiptStream&) const = default;
};

struct Receipt {
  TaskId task;
  NodeId node;
  AccountId owner;
  Bytes task_sha256;  // of the signed envelope, exactly as the node received it
  wire::IsolationLevel isolation = wire::IsolationLevel::trusted;
  Bytes egress_sha256;  // empty: nothing held its network back
  std::string executable;
  Bytes executable_sha256;  // empty: nothing was executed, or it could not be read
  std::string end;          // as wire::state_of
  int exit_code = 0;
  int signal = 0;
  std::string error_code;
  WallTime accepted_at;
  std::optional<WallTime> started_at;
  WallTime ended_at;
  std::vector<ReceiptStream> streams;
  std::uint64_t bytes_left_out = 0;
  std::optional<AuditHead> audit_head;
  Bytes certificate;  // DER, of the key that signed this
  bool operator==(const Receipt&) const = default;
};

// A serialised v1::Envelope.
Bytes sign_receipt(const Receipt& receipt, const NamedKey& signer);
// Reads it and checks that the certificate inside signed it; whose certificate that is remains to be asked.
// Fails with task_signature_invalid, protocol_violation and certificate_invalid.
Result<Receipt> open_receipt(ByteView envelope);
// The same under a key that the caller knows to be the node's; the certificate inside is not looked at.
Result<Receipt> open_receipt(ByteView envelope, const crypto::VerifyKey& key);
// For bytes that open_receipt has accepted before.
Result<Receipt> assume_receipt(ByteView envelope);

// That the certificate is a signing certificate of receipt.node, issued by one of `authorities` and valid
// when the task ended. Fails with certificate_invalid.
Result<void> verify_receipt_signer(const Receipt& receipt, std::span<const crypto::Certificate> authorities);
// That the receipt says of the task what its result says. Fails with protocol_violation and names the field.
Result<void> match_result(const Receipt& receipt, const wire::TaskResult& result);

}  // namespace outhaul::audit
