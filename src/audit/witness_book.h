// WitnessBook: the last signed head of every log in other hands, kept in this process's journal. When their
// owner cuts a tail or rotates a log away, it is noticed from here, offline too.
// Heads never run backwards on an honest side; one that does is kept beside the one it contradicts.
//   runs on  the strand of the process
//   life     made before the journal is opened, with it as owner
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "audit/verifier.h"
#include "stream/journal.h"

namespace outhaul::audit {

// The head that some evidence proves: a signed head, or a receipt that names one. The signature is not looked
// at. Fails with protocol_violation.
Result<AuditHead> head_in_evidence(ByteView evidence);

class WitnessBook final : public stream::JournalOwner {
 public:
  // Contradicted heads that are kept for each log; older ones go first.
  static constexpr std::size_t max_contradicted = 8;

  struct Witness {
    AuditHead head;
    Bytes evidence;  // exactly as signed
    WallTime seen_at;
  };
  enum class Verdict {
    newer,      // the log has grown
    known,      // nothing new
    regressed,  // behind the last one, or another log under the same name
  };

  // Writes it down; not durable before the journal says so. The signature was checked by the caller, who also
  // knows that the sender may speak for this log. Errors as Journal::append.
  Result<Verdict> take(stream::Journal& journal, const AuditHead& head, Bytes evidence, WallTime now);

  // The latest of this log; null when there is none.
  const Witness* find(const std::string& log) const;
  // Every one of this log, the contradicted first.
  std::vector<Witness> all_of(const std::string& log) const;
  std::vector<Witness> all() const;

  bool owns(stream::JournalType type) const override;
  Result<void> replay(stream::JournalType type, ByteView payload) override;
  Result<void> write_live(stream::Journal& journal) override;

 private:
  Verdict judge(const AuditHead& head) const;
  void keep(Witness witness);

  // By log; the latest stands last.
  std::map<std::string, std::vector<Witness>> logs_;
};

}  // namespace outhaul::audit
