// One-time enrolment tokens. The token itself is never stored, only its hash.
#pragma once

#include "store/node_store.h"

namespace outhaul::store {

// The one use of a token.
struct Redemption {
  Bytes key_hash;  // SHA-256 of the SPKI of the key that came
  NodeId node;
  Bytes answer;  // what the hub replied, kept so that a lost reply strands nobody
  WallTime redeemed_at;
  bool operator==(const Redemption&) const = default;
};

enum class Approval { asked = 0, given = 1, denied = 2 };

// Who wants to redeem a token that needs approval. The first to ask is the only one who may.
struct EnrolmentWish {
  Bytes key_hash;           // as Redemption's
  std::string fingerprint;  // of the node's TLS key, as both sides show it
  std::string name;         // of the node
  std::string address;      // where it asked from
  WallTime asked_at;
  Approval approval = Approval::asked;
  bool operator==(const EnrolmentWish&) const = default;
};

struct EnrolmentTokenRow {
  EnrolmentTokenId id;
  Bytes hash;  // SHA-256 of the token, 32 bytes; unique
  AccountId created_by;
  WallTime created_at;
  WallTime expires_at;
  std::string pool;
  Labels labels;
  Planes planes;
  std::optional<Redemption> redemption;
  bool needs_approval = false;
  std::optional<EnrolmentWish> wish;
  bool operator==(const EnrolmentTokenRow&) const = default;
};

struct RedeemOutcome {
  // True when this call used the token: the caller adds the node in the same transaction. False when
  // the same key came again: `redemption` is the first one, and its answer is given again.
  bool is_first = false;
  Redemption redemption;
};

class EnrolmentTokenReader {
 public:
  virtual ~EnrolmentTokenReader() = default;
  virtual Result<std::optional<EnrolmentTokenRow>> find_by_hash(const Bytes& hash) = 0;
  // Newest first.
  virtual Result<Page<EnrolmentTokenRow>> list(const PageRequest& page) = 0;
};

class EnrolmentTokenStore : public EnrolmentTokenReader {
 public:
  // conflict: the id or the hash exists. A redemption in the row is ignored.
  virtual Result<void> add(const EnrolmentTokenRow& token) = 0;
  // Uses the token for `use.key_hash`, compared and set in one step. enrolment_token_invalid: the hash
  // is unknown, the token has expired at `use.redeemed_at`, or another key used it; the message is the
  // same for all three.
  virtual Result<RedeemOutcome> redeem(const Bytes& hash, const Redemption& use) = 0;
  // Notes who wants to redeem a token that needs approval, and gives what stands there: another's wish is
  // never replaced. enrolment_token_invalid as redeem(), at `wish.asked_at`.
  virtual Result<EnrolmentWish> ask(const Bytes& hash, const EnrolmentWish& wish) = 0;
  // Final. not_found: no such token, or nobody has asked. conflict: the wish has another fingerprint, or was
  // decided otherwise.
  virtual Result<void> decide(const EnrolmentTokenId& id, const std::string& fingerprint,
                              Approval approval) = 0;
  // An unused token is forgotten; a used one is `conflict`, an unknown one `not_found`.
  virtual Result<void> revoke(const EnrolmentTokenId& id) = 0;
  // Forgets every unused token; gives how many. For a restore: one may have been used since the backup.
  virtual Result<std::uint64_t> revoke_unused() = 0;
  // Forgets tokens that expired before `time`; gives how many.
  virtual Result<std::uint64_t> prune(WallTime time) = 0;
};

}  // namespace outhaul::store
