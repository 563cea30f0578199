// AuditEntry: one thing that happened, was refused or failed, as it stands in an audit log: who, what, to
// what, with which outcome. Never a secret, never the bytes of a task's input or output.
// Pure; no strand. Source: docs/protocol.md, "Audit".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace outhaul::audit {

enum class AuditAction : std::uint8_t {
#define OUTHAUL_AUDIT(name, word, ocsf_class, ocsf_activity) name,
#include "audit/audit_action_list.h"
#undef OUTHAUL_AUDIT
};
// "task.accepted"
std::string_view name_of(AuditAction action);
std::optional<AuditAction> find_action(std::string_view word);

enum class AuditOutcome : std::uint8_t {
  done = 1,
  refused = 2,  // somebody who may decide so said no; `code` says why
  failed = 3,   // it was tried and did not work; `code` says why
};
std::string_view name_of(AuditOutcome outcome);
std::optional<AuditOutcome> find_outcome(std::string_view word);

struct AuditField {
  std::string name;
  std::string value;
  bool operator==(const AuditField&) const = default;
};

struct AuditEntry {
  static constexpr std::size_t max_text_bytes = 256;    // action, actor, subject, code and names of fields
  static constexpr std::size_t max_value_bytes = 1024;  // of a field
  static constexpr std::size_t max_fields = 16;

  WallTime time;       // zero: the log fills in the present
  std::string action;  // a word of AuditAction; a newer version may have written others
  AuditOutcome outcome = AuditOutcome::done;
  std::string actor;  // an id, "hub" or "owner"; empty: nobody known
  std::string subject;
  std::string code;
  std::vector<AuditField> fields;
  bool operator==(const AuditEntry&) const = default;

  AuditEntry() = default;
  AuditEntry(AuditAction what, std::string who, std::string to_what)
      : action(name_of(what)), actor(std::move(who)), subject(std::move(to_what)) {}
  AuditEntry with(std::string name, std::string value) &&;
  // With the error's code, and its sentence as field "reason".
  AuditEntry refused_by(const Error& reason) &&;
  AuditEntry failed_by(const Error& reason) &&;
};

inline constexpr std::size_t max_entry_bytes = 32U << 10U;

// Texts over their limits are cut, broken UTF-8 is mended, fields beyond max_fields are left out.
Bytes serialise_entry(const AuditEntry& entry);
// Fails with `protocol_violation`; the message names the field and never repeats a value.
Result<AuditEntry> parse_entry(ByteView serialised);

}  // namespace outhaul::audit
