#include "audit/ocsf.h"

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <ctime>

#include <fmt/format.h>

namespace outhaul::audit {
namespace {

namespace json = boost::json;

constexpr std::string_view schema_version = "1.3.0";
constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::int64_t ns_per_s = 1'000'000'000;

struct EventKind {
  int class_uid = 0;
  int activity_id = 0;
};
constexpr std::array event_kinds = {
#define OUTHAUL_AUDIT(name, word, ocsf_class, ocsf_activity) EventKind{ocsf_class, ocsf_activity},
#include "audit/audit_action_list.h"
#undef OUTHAUL_AUDIT
};

std::string_view class_name_of(int class_uid) {
  switch (class_uid) {
    case 1007: return "Process Activity";
    case 1008: return "Event Log Activity";
    case 3001: return "Account Change";
    case 3002: return "Authentication";
    case 3003: return "Authorize Session";
    case 3004: return "Entity Management";
    case 6002: return "Application Lifecycle";
    case 6003: return "API Activity";
    default: return "Base Event";
  }
}

// 1 informational, 2 low, 3 medium: what a reader should look at first.
int severity_of(const AuditEntry& entry) {
  const auto action = find_action(entry.action);
  if (action == AuditAction::log_damaged || action == AuditAction::witness_regressed) return 4;
  if (action == AuditAction::receipt_refused || action == AuditAction::log_restored) return 3;
  return entry.outcome == AuditOutcome::done ? 1 : 2;
}

json::object subject_object(int class_uid, const AuditEntry& entry) {
  json::object object;
  object["uid"] = entry.subject;
  object["name"] = entry.subject;
  if (class_uid == 3004) object["type"] = std::string_view(entry.action).substr(0, entry.action.find('.'));
  return object;
}

// What the class demands beside the common attributes.
void add_class_attributes(json::object& event, int class_uid, const AuditEntry& entry) {
  switch (class_uid) {
    case 1007: event["process"] = subject_object(class_uid, entry); break;
    case 3001:
    case 3003: event["user"] = subject_object(class_uid, entry); break;
    case 3002:
      event["user"] = json::object{{"uid", entry.actor.empty() ? entry.subject : entry.actor}};
      break;
    case 3004: event["entity"] = subject_object(class_uid, entry); break;
    case 6002: event["app"] = json::object{{"name", "outhaul"}, {"vendor_name", "Outhaul"}}; break;
    case 6003:
      event["api"] = json::object{{"operation", entry.action}};
      event["resources"] = json::array{subject_object(class_uid, entry)};
      event["src_endpoint"] = json::object{{"uid", entry.actor}};
      break;
    default: break;
  }
}

json::object fields_object(const AuditEntry& entry) {
  json::object fields;
  for (const auto& field : entry.fields) fields[field.name] = field.value;
  return fields;
}

}  // namespace

std::string time_text(WallTime time) {
  const std::time_t seconds = time.nanoseconds / ns_per_s;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, time.nanoseconds % ns_per_s);
}

std::string ocsf_event(const AuditEntry& entry, const EntryPlace& place) {
  const auto action = find_action(entry.action);
  const auto kind = action ? event_kinds[static_cast<std::size_t>(*action)] : EventKind{0, 99};
  json::object event;
  event["category_uid"] = kind.class_uid / 1000;
  event["class_uid"] = kind.class_uid;
  event["class_name"] = class_name_of(kind.class_uid);
  event["activity_id"] = kind.activity_id;
  if (kind.activity_id == 99) event["activity_name"] = entry.action;
  event["type_uid"] = kind.class_uid * 100 + kind.activity_id;
  event["time"] = entry.time.nanoseconds / ns_per_ms;
  event["severity_id"] = severity_of(entry);
  event["status_id"] = entry.outcome == AuditOutcome::done ? 1 : 2;
  if (!entry.code.empty()) event["status_code"] = entry.code;
  event["message"] = entry.action + " " + std::string(name_of(entry.outcome));
  event["metadata"] =
      json::object{{"version", schema_version},
                   {"uid", fmt::format("{}:{}", place.log, place.sequence)},
                   {"log_name", place.log},
                   {"sequence", place.sequence},
                   {"event_code", entry.action},
                   {"product", json::object{{"name", "Outhaul"}, {"vendor_name", "Outhaul"}}}};
  event["actor"] = json::object{{"user", json::object{{"uid", entry.actor}}}};
  add_class_attributes(event, kind.class_uid, entry);
  event["unmapped"] = fields_object(entry);
  return json::serialize(event);
}

std::string entry_json(const AuditEntry& entry, const EntryPlace& place) {
  json::object object;
  object["sequence"] = place.sequence;
  object["time"] = time_text(entry.time);
  object["action"] = entry.action;
  object["outcome"] = name_of(entry.outcome);
  object["actor"] = entry.actor;
  object["subject"] = entry.subject;
  if (entry.code.empty()) {
    object["code"] = nullptr;
  } else {
    object["code"] = entry.code;
  }
  object["fields"] = fields_object(entry);
  return json::serialize(object);
}

}  // namespace outhaul::audit
