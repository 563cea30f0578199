// AuditLog: where a part of hub or node writes down what it decided. The port through which everybody but
// the log's own keeper sees it; DurableLog is the real one, testing/memory_audit.h the fake.
//   runs on  the strand of the process
#pragma once

#include "audit/audit_entry.h"
#include "base/log.h"
#include "base/task.h"

namespace outhaul::audit {

class AuditLog {
 public:
  virtual ~AuditLog() = default;
  // Appends at once and does not suspend: what is appended beside a change of the journal is durable with the
  // same sync. Fails with disk_full or unavailable, as Journal::append; nothing was written then.
  virtual Result<void> append(AuditEntry entry) = 0;
  // Completes when everything appended before is durable. To be awaited before anybody is told of what was
  // done, where nothing else that is awaited covers it. Fails with unavailable.
  virtual Task<Result<void>> durable() = 0;
};

// For what has happened whether or not it can be written down: a failure goes to the process's log.
inline void note(AuditLog& audit, const Log& log, AuditEntry entry) {
  if (const auto written = audit.append(std::move(entry)); !written) {
    log.failure("an audit entry is not written", written.error());
  }
}

}  // namespace outhaul::audit
