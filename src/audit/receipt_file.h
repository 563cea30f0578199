// A receipt as a file: DSSE's own JSON form, so that other tools can check the signature, with what an
// offline check needs beside it: the deployment's CA certificate, and the signed task whose digest the
// receipt names. Pure; no strand.
//   source  https://github.com/secure-systems-lab/dsse/blob/v1.0.0/envelope.md
#pragma once

#include "audit/receipt.h"
#include "crypto/fingerprint.h"
#include "wire/task_spec.h"

namespace outhaul::audit {

struct ReceiptFile {
  Bytes receipt;        // a serialised v1::Envelope
  Bytes authority;      // DER of the CA certificate; empty: the reader needs its own
  Bytes task_envelope;  // exactly as signed by the hub; empty: not kept
};
inline constexpr std::size_t max_receipt_file_bytes = 1U << 20U;

// One JSON object; one line, without its end.
std::string serialise_receipt_file(const ReceiptFile& file);
// Fails with `invalid`; the message names the member.
Result<ReceiptFile> parse_receipt_file(std::string_view text);

// What holds of a receipt file, in the order of the checks.
struct ReceiptCheck {
  Receipt receipt;
  std::string signer;                  // the URI in the certificate: spiffe://<deployment>/node/<node id>
  std::string authority;               // fingerprint of the CA that the certificate was checked against
  bool is_anchored = false;            // that CA is the one that the caller trusts
  std::optional<wire::TaskSpec> task;  // whose envelope has the digest that the receipt names
};
// `anchor`: the CA's fingerprint as the caller knows it; none: the file's own CA counts, and is_anchored is
// false.
//   errors  task_signature_invalid, certificate_invalid, ca_fingerprint_mismatch, protocol_violation: the
//   named
//           check does not hold
Result<ReceiptCheck> verify_receipt_file(const ReceiptFile& file,
                                         const std::optional<crypto::Fingerprint>& anchor);

}  // namespace outhaul::audit
