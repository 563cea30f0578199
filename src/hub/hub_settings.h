// HubSettings: the numbers of a hub that its configuration may change. The defaults are the product's.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "crypto/certificate_authority.h"
#include "stream/file_sizes.h"

namespace outhaul::hub {

struct HubSettings {
  std::string deployment;  // a DNS name; bound to the database at `init`
  std::chrono::nanoseconds heartbeat_interval = std::chrono::seconds(10);
  std::chrono::nanoseconds dead_after = std::chrono::seconds(30);
  std::chrono::nanoseconds queue_timeout = std::chrono::minutes(5);
  std::chrono::nanoseconds envelope_lifetime = std::chrono::minutes(5);
  std::chrono::nanoseconds term_grace = std::chrono::seconds(10);
  std::chrono::nanoseconds drain_limit = std::chrono::seconds(30);
  std::chrono::nanoseconds enrolment_token_lifetime = std::chrono::hours(1);
  std::chrono::nanoseconds node_certificate_lifetime = crypto::node_certificate_lifetime;
  // A node that stays away for longer has taken with it what it had accepted.
  std::chrono::nanoseconds lost_after = std::chrono::hours(24 * 7);
  // An ephemeral node that stays away for longer is removed.
  std::chrono::nanoseconds ephemeral_lost_after = std::chrono::minutes(5);
  bool journal_must_exist = false;  // the data directory was made with one: none is made instead of it
  std::uint64_t audit_bytes = std::uint64_t{8} << 30U;  // of the audit log; then its oldest files go
  stream::FileSizes files = {};
  std::size_t max_live_tasks = 100'000;  // not yet ended; beyond it a submit is `exhausted`
};

// Certificates name whole seconds.
inline std::chrono::seconds certificate_lifetime(const HubSettings& settings) {
  return std::chrono::duration_cast<std::chrono::seconds>(settings.node_certificate_lifetime);
}

}  // namespace outhaul::hub
