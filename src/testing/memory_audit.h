// MemoryAudit: an AuditLog that keeps its entries, and can be told to fail.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "audit/audit_log.h"

namespace outhaul::testing {

class MemoryAudit final : public audit::AuditLog {
 public:
  std::vector<audit::AuditEntry> entries;
  std::optional<ErrorCode> fault;

  Result<void> append(audit::AuditEntry entry) override {
    if (fault) return fail(*fault, "memory audit: told to fail");
    entries.push_back(std::move(entry));
    return {};
  }
  Task<Result<void>> durable() override {
    if (fault) co_return fail(*fault, "memory audit: told to fail");
    co_return Result<void>();
  }
  // The last one of this action; null when there is none.
  const audit::AuditEntry* find(audit::AuditAction action) const {
    const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                    [&](const auto& entry) { return entry.action == name_of(action); });
    return found == entries.rend() ? nullptr : &*found;
  }
};

}  // namespace outhaul::testing
