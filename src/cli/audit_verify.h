// Verifies audit logs from files alone: data directories of hub and nodes, or copies of them, and exported
// bundles. Each log is checked by itself and against the heads that the others hold of it.
#pragma once

#include <string>
#include <vector>

#include "audit/bundle.h"
#include "base/error.h"

namespace outhaul::cli {

struct VerifySources {
  std::vector<std::string> directories;
  std::vector<std::string> bundles;
  std::vector<std::string> keys;  // fingerprints of signers that are known otherwise; empty: not compared
};

// One report a source, directories first. Fails when a source cannot be read or holds no log.
Result<std::vector<audit::LogReport>> verify_sources(const VerifySources& sources);

// "sha256:<hex>" of a signer's public key.
std::string key_fingerprint(ByteView public_key);
// Adds a finding where the signer is none of `keys`; nothing when there are no keys to compare with.
void compare_keys(audit::LogReport& report, const std::vector<std::string>& keys);
// Prints them and gives exit_code::done when all are whole, else exit_code::failed.
int print_reports(const std::vector<audit::LogReport>& reports, bool as_json);

}  // namespace outhaul::cli
