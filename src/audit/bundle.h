// A bundle: a whole log in one file, with what its owner holds of other logs, so that it can be verified
// anywhere: 8 "OUTHAULB", u32 length of a v1::AuditBundle, SHA-256 of that message, the message, then the
// records as they stand.
// Pure; no strand.
#pragma once

#include "audit/verifier.h"
#include "audit/witness_book.h"

namespace outhaul::audit {

struct BundleHead {
  std::string log;
  LogFileHeader front;  // of the oldest file that is kept
  std::vector<WitnessBook::Witness> witnesses;
  Bytes authority;  // DER of the deployment's CA certificate; empty when the owner has none
};
inline constexpr std::size_t max_bundle_head_bytes = 16U << 20U;
inline constexpr std::string_view bundle_media_type = "application/vnd.outhaul.audit-bundle";

Bytes serialise_bundle_head(const BundleHead& head);
struct ParsedBundleHead {
  BundleHead head;
  std::size_t bytes = 0;  // the records follow
};
// Fails with protocol_violation. Empty: `bytes` ends before the head does.
Result<std::optional<ParsedBundleHead>> parse_bundle_head(ByteView bytes);

// Verifies a bundle piece by piece.
class BundleVerifier {
 public:
  // `witnessed`: heads of this log in other hands. `keys`: as ChainVerifier::Config.
  BundleVerifier(std::vector<Witnessed> witnessed, std::vector<crypto::TrustedKey> keys);
  // Fails with protocol_violation when it is no bundle.
  Result<void> feed(ByteView piece);
  Result<void> finish();
  const LogReport& report() const { return verifier_->report(); }
  const BundleHead& head() const { return head_; }

 private:
  std::vector<Witnessed> witnessed_;
  std::vector<crypto::TrustedKey> keys_;
  BundleHead head_;
  std::optional<ChainVerifier> verifier_;  // empty until the head is read
  Bytes rest_;
  std::uint64_t read_ = 0;
};

}  // namespace outhaul::audit
