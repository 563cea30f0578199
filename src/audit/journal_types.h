// What the audit log and the heads of others look like among the records of a process's journal. One place,
// because the offline check reads them without the owners.
#pragma once

#include <optional>

#include "audit/chain.h"
#include "stream/journal.h"

namespace outhaul::audit {

// The last of an owner's types, so that hub and node have room for their own.
inline constexpr stream::JournalType audit_record_type = 250;   // a record of the chain
inline constexpr stream::JournalType audit_mark_type = 251;     // JournalMark
inline constexpr stream::JournalType audit_witness_type = 252;  // v1::AuditWitness

// What the log's files hold durably, and what the log was kept with then.
struct JournalMark {
  ChainTip tip;
  std::uint64_t epoch = 0;
  Bytes public_key;  // 32 bytes, of its signer
};
Bytes serialise_journal_mark(const JournalMark& mark);
std::optional<JournalMark> parse_journal_mark(ByteView bytes);

}  // namespace outhaul::audit
