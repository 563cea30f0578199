#include "audit/audit_entry.h"

#include <algorithm>
#include <array>

#include "outhaul/v1/audit.pb.h"
#include "wire/utf8.h"

namespace outhaul::audit {
namespace {

constexpr std::array action_words = {
#define OUTHAUL_AUDIT(name, word, ocsf_class, ocsf_activity) std::string_view(word),
#include "audit/audit_action_list.h"
#undef OUTHAUL_AUDIT
};
constexpr std::string_view outcome_words[] = {"", "done", "refused", "failed"};  // indexed by AuditOutcome

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

bool is_short(const std::string& text) { return text.size() <= AuditEntry::max_text_bytes; }

std::string cut(std::string_view text) { return wire::printable_utf8(text, AuditEntry::max_text_bytes); }

AuditEntry judged(AuditEntry entry, AuditOutcome outcome, const Error& reason) {
  entry.outcome = outcome;
  entry.code = std::string(name_of(reason.code()));
  entry.fields.push_back({"reason", reason.what()});
  return entry;
}

Result<void> check(const v1::AuditEntry& message) {
  if (message.time_ns() < 0) return violation("audit entry: time");
  if (message.outcome() < v1::AuditEntry::DONE || message.outcome() > v1::AuditEntry::FAILED)
    return violation("audit entry: outcome");
  if (message.action().empty() || !is_short(message.action())) return violation("audit entry: action");
  if (!is_short(message.actor())) return violation("audit entry: actor");
  if (!is_short(message.subject())) return violation("audit entry: subject");
  if (!is_short(message.code())) return violation("audit entry: code");
  if (static_cast<std::size_t>(message.fields_size()) > AuditEntry::max_fields)
    return violation("audit entry: too many fields");
  for (const auto& field : message.fields()) {
    const bool fits = is_short(field.name()) && field.value().size() <= AuditEntry::max_value_bytes;
    if (field.name().empty() || !fits) return violation("audit entry: a field");
  }
  return {};
}

}  // namespace

std::string_view name_of(AuditAction action) { return action_words[static_cast<std::size_t>(action)]; }

std::optional<AuditAction> find_action(std::string_view word) {
  const auto* const found = std::ranges::find(action_words, word);
  if (found == action_words.end()) return std::nullopt;
  return static_cast<AuditAction>(found - action_words.begin());
}

std::string_view name_of(AuditOutcome outcome) { return outcome_words[static_cast<std::size_t>(outcome)]; }

std::optional<AuditOutcome> find_outcome(std::string_view word) {
  for (const auto outcome : {AuditOutcome::done, AuditOutcome::refused, AuditOutcome::failed}) {
    if (name_of(outcome) == word) return outcome;
  }
  return std::nullopt;
}

AuditEntry AuditEntry::with(std::string name, std::string value) && {
  fields.push_back({std::move(name), std::move(value)});
  return std::move(*this);
}

AuditEntry AuditEntry::refused_by(const Error& reason) && {
  return judged(std::move(*this), AuditOutcome::refused, reason);
}

AuditEntry AuditEntry::failed_by(const Error& reason) && {
  return judged(std::move(*this), AuditOutcome::failed, reason);
}

Bytes serialise_entry(const AuditEntry& entry) {
  v1::AuditEntry message;
  message.set_time_ns(entry.time.nanoseconds);
  message.set_action(cut(entry.action));
  message.set_outcome(static_cast<v1::AuditEntry::Outcome>(entry.outcome));
  message.set_actor(cut(entry.actor));
  message.set_subject(cut(entry.subject));
  message.set_code(cut(entry.code));
  for (std::size_t i = 0; i < std::min(entry.fields.size(), AuditEntry::max_fields); ++i) {
    auto& field = *message.add_fields();
    field.set_name(cut(entry.fields[i].name));
    field.set_value(wire::printable_utf8(entry.fields[i].value, AuditEntry::max_value_bytes));
  }
  return message.SerializeAsString();
}

Result<AuditEntry> parse_entry(ByteView serialised) {
  v1::AuditEntry message;
  if (serialised.size() > max_entry_bytes ||
      !message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) {
    return violation("audit entry: not a message of this kind");
  }
  OUTHAUL_CHECK(check(message));
  AuditEntry entry;
  entry.time = {message.time_ns()};
  entry.action = std::move(*message.mutable_action());
  entry.outcome = static_cast<AuditOutcome>(message.outcome());
  entry.actor = std::move(*message.mutable_actor());
  entry.subject = std::move(*message.mutable_subject());
  entry.code = std::move(*message.mutable_code());
  for (auto& field : *message.mutable_fields()) {
    entry.fields.push_back({std::move(*field.mutable_name()), std::move(*field.mutable_value())});
  }
  return entry;
}

}  // namespace outhaul::audit
