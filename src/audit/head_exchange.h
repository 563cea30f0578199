// HeadExchange: what this process tells its peers of its own log, and what it keeps of theirs.
//   runs on  the strand of the process
#pragma once

#include "audit/durable_log.h"
#include "audit/receipt.h"
#include "audit/witness_book.h"

namespace outhaul::audit {

class HeadExchange {
 public:
  // All outlive the exchange.
  HeadExchange(DurableLog& own, WitnessBook& others, const Clock& clock, const Log& log)
      : own_(own), others_(others), clock_(clock), log_(log) {}
  // After the journal is open; before it nothing is taken.
  void bind(stream::Journal& journal) { journal_ = &journal; }

  // Our latest signed head, durable here; empty before the first.
  const Bytes& own_head() const { return own_.signed_head(); }
  // A head that came over a session whose peer may speak for `log` and signs with one of `keys`. One that
  // does not hold goes to the process's log; one that runs backwards is audited.
  void take_head(ByteView envelope, const std::string& log, std::span<const crypto::TrustedKey> keys);
  // The head inside a receipt whose signature and signer were checked.
  void take_receipt(const Receipt& receipt, Bytes evidence);

 private:
  void keep(const AuditHead& head, Bytes evidence);

  DurableLog& own_;
  WitnessBook& others_;
  const Clock& clock_;
  const Log& log_;
  stream::Journal* journal_ = nullptr;
};

// What one session has told its peer: each head once.
class SentHead {
 public:
  // Empty when nothing is new.
  Bytes next(const HeadExchange& heads) {
    if (heads.own_head() == last_) return {};
    last_ = heads.own_head();
    return last_;
  }

 private:
  Bytes last_;
};

// The keys under which a log's heads are signed, for a public key that is known otherwise. Empty when it is
// no key.
std::vector<crypto::TrustedKey> head_keys(ByteView public_key);

}  // namespace outhaul::audit
