// AuditHead: where a log stands, signed by its owner. Whoever holds one can show later that the log reached
// this record with this hash, also when its owner has lost or changed it. Pure; no strand.
#pragma once

#include <span>
#include <string>

#include "audit/chain.h"
#include "base/clock.h"
#include "base/error.h"
#include "crypto/envelope.h"

namespace outhaul::v1 {
class AuditHead;
}

namespace outhaul::audit {

inline constexpr std::string_view head_payload_type = "application/vnd.outhaul.audit-head.v1+protobuf";
inline constexpr std::size_t max_head_bytes = 1024;  // of the signed form

struct AuditHead {
  std::string log;    // "hub:<deployment>" or a node's id
  Bytes incarnation;  // log_incarnation_bytes
  ChainTip tip;
  WallTime time;  // of the signature
  bool operator==(const AuditHead&) const = default;
};

std::string hub_log_name(std::string_view deployment);

// The key that signs for a log or a node; outlives whoever holds this.
struct NamedKey {
  KeyId id;
  const crypto::SigningKey* key = nullptr;
};
// The name of a key that has none of its own: a node's, whose certificate says whose it is.
KeyId key_id_of(ByteView public_key);

// A serialised v1::Envelope.
Bytes sign_head(const AuditHead& head, const NamedKey& signer);
// Fails with task_signature_invalid and protocol_violation.
Result<AuditHead> open_head(ByteView envelope, std::span<const crypto::TrustedKey> keys);
// The same without looking at the signature: for bytes whose signature was checked when they came.
Result<AuditHead> assume_head(ByteView envelope);

Result<AuditHead> parse_head(ByteView payload);
Result<AuditHead> head_of(const v1::AuditHead& message);
void write_head(const AuditHead& head, v1::AuditHead& message);

}  // namespace outhaul::audit
