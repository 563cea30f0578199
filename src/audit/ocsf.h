// An audit entry as one event of the Open Cybersecurity Schema Framework, for systems that collect such
// events.
//   source  https://github.com/ocsf/ocsf-schema/tree/v1.3.0
#pragma once

#include "audit/audit_entry.h"

namespace outhaul::audit {

// Where an entry stands.
struct EntryPlace {
  std::string log;
  std::uint64_t sequence = 0;
};
// One line of JSON without its end. Actions of a newer version become a base event (class 0).
std::string ocsf_event(const AuditEntry& entry, const EntryPlace& place);
// The same entry in Outhaul's own words, as the interface and `outhaul audit show --json` give it.
std::string entry_json(const AuditEntry& entry, const EntryPlace& place);
// "2026-11-30T17:00:00.123456789Z"
std::string time_text(WallTime time);

}  // namespace outhaul::audit
