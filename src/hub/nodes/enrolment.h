// EnrolmentService: one-time tokens, and the one moment at which a machine becomes a node.
//   runs on  the hub's strand
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_registry.h"
#include "store/database.h"

namespace outhaul::hub {

// What a machine sends. Everything in it comes from a stranger.
struct EnrolmentRequest {
  std::string token;
  std::string csr_pem;
  Bytes signing_key;  // 32 bytes
  Bytes proof;        // by the signing key, over crypto::enrolment_statement
  std::string name;
  bool is_ephemeral = false;
  std::string address = {};  // where it comes from
};

// An enrolment that waits for an operator.
struct WaitingEnrolment {
  store::EnrolmentTokenRow token;  // with the wish
  bool is_new = false;             // this request was the first
};

struct NodeTokenWish {
  std::optional<std::chrono::nanoseconds> expires_in;  // none: the hub's default
  std::string pool = "default";
  store::Labels labels;
  store::Planes planes;
  bool needs_approval = false;
  AccountId created_by;
};

struct NewNodeToken {
  store::EnrolmentTokenRow row;
  Secret token;  // shown once
};

class EnrolmentService {
 public:
  static constexpr std::size_t max_labels = 32;

  EnrolmentService(const HubPorts& ports, const HubSettings& settings, const HubKeys& keys,
                   NodeRegistry& registry);

  // errors  invalid: a pool or label name breaks the rule of names, or there are too many labels
  Task<Result<NewNodeToken>> create_token(NodeTokenWish wish);
  Task<Result<store::Page<store::EnrolmentTokenRow>>> list_tokens(store::PageRequest page);

  // An unused token is worthless from now on. not_found, conflict: it was used
  Task<Result<void>> revoke_token(EnrolmentTokenId id);

  // Whether the request waits for an operator; empty: it may go on to enrol(). Durable when it completes.
  //   errors  denied: an operator said no. Those of enrol()
  Task<Result<std::optional<WaitingEnrolment>>> ask_approval(EnrolmentRequest request);
  // All that wait and can still be approved, newest token first.
  Task<Result<std::vector<store::EnrolmentTokenRow>>> list_waiting();
  // Final. not_found; conflict: another fingerprint asked, or it was decided otherwise
  Task<Result<void>> decide(EnrolmentTokenId id, std::string fingerprint, bool is_approved);

  // Makes the node and gives the answer as JSON (docs/openapi.json, Enrolment). The same keys get the same
  // answer until the token expires, so that a lost reply strands nobody.
  //   errors  enrolment_token_invalid: unknown, expired, of another deployment, or used by other keys; one
  //           message for all. node_removed: the token made a node that was removed since.
  //           certificate_invalid: the request or the proof does not hold. invalid: the name or the key.
  //           name_taken. denied: the token needs an approval that was not given
  Task<Result<Bytes>> enrol(EnrolmentRequest request);

 private:
  struct Candidate;
  static bool is_approved(const store::EnrolmentTokenRow& token, const Candidate& candidate);
  Result<void> check(const EnrolmentRequest& request) const;
  Task<Result<store::EnrolmentTokenRow>> find_usable_token(Bytes hash);
  Result<Candidate> make_candidate(const EnrolmentRequest& request, const store::EnrolmentTokenRow& token);
  Bytes answer_for(const Candidate& candidate, const std::string& certificate_pem,
                   const std::string& signing_pem) const;

  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  const HubSettings& settings_;
  const HubKeys& keys_;
  NodeRegistry& registry_;
};

}  // namespace outhaul::hub
