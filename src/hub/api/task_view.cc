#include "hub/api/task_view.h"

#include "base/duration_text.h"
#include "hub/api/views.h"
#include "hub/tasks/task_ender.h"
#include "wire/task_result_json.h"
#include "wire/task_spec.h"

namespace outhaul::hub {
namespace {

// The node's word, or the hub's own where there is none. Nothing at all would be read as an exit with 0.
wire::TaskResult result_told(const store::TaskRow& row) {
  if (row.result.empty()) return result_of(row);
  const auto result = wire::parse_task_result(row.result);
  return result ? *result : result_of(row);
}

void write_common(http::JsonWriter& json, const TaskFacts& facts) {
  const auto& row = facts.row;
  json.field("id", row.id.text())
      .field("account_id", row.owner.text())
      .field("state", facts.is_awaiting_consent ? "awaiting_consent" : store::name_of(row.state));
  json.field("summary", row.action_summary);
  write_text_or_null(json, "error_code", row.error_code);
  wire::write_program_end(json, result_told(row).end);
  write_text_or_null(json, "node_id", row.node.text());
  write_text_or_null(json, "node_name", facts.node_name);
  json.field("stream_id", row.stream.text());
  write_text_or_null(json, "stdin_stream_id", row.stdin_stream.text());
  write_time(json, "created_at", row.times.created_at);
  write_time(json, "queue_deadline", row.times.queue_deadline);
  write_time(json, "accepted_at", row.times.accepted_at);
  write_time(json, "ended_at", row.times.finished_at);
  write_time(json, "cancel_requested_at", row.times.cancel_requested_at);
  json.field("traceparent", row.traceparent);
}

void write_action(http::JsonWriter& json, const wire::TaskAction& action) {
  json.key("action").begin_object();
  if (const auto* argv = std::get_if<wire::ArgvAction>(&action)) {
    json.key("argv").begin_array();
    for (const auto& word : argv->argv) json.value(word);
    json.end_array();
  } else if (const auto* shell = std::get_if<wire::ShellAction>(&action)) {
    json.field("shell", shell->line);
  } else {
    json.field("echo", std::get<wire::EchoAction>(action).text);
  }
  json.end_object();
}

void write_spec(http::JsonWriter& json, const store::TaskRow& row) {
  json.key("selector").raw(row.selector_json);
  const auto spec = wire::parse_task_spec(row.spec);
  if (!spec) return;
  write_action(json, spec->action);
  json.field("cwd", spec->cwd);
  json.key("env_names").begin_array();
  for (const auto& variable : spec->env) json.value(variable.name);
  json.end_array();
  write_text_or_null(json, "timeout", spec->timeout ? duration_text(*spec->timeout) : std::string());
  json.field("isolation", wire::name_of(spec->isolation)).field("interactive", spec->is_interactive);
}

void write_waiting(http::JsonWriter& json, const std::vector<Waiting>& waiting) {
  json.key("waiting").begin_array();
  for (const auto& reason : waiting) {
    json.begin_object().field("node_id", reason.node.text()).field("node_name", reason.node_name);
    json.field("code", name_of(reason.code)).field("reason", reason.reason).end_object();
  }
  json.end_array();
}

}  // namespace

void write_task_in_list(http::JsonWriter& json, const TaskFacts& facts) {
  json.begin_object();
  write_common(json, facts);
  json.end_object();
}

void write_task(http::JsonWriter& json, const TaskFacts& facts) {
  json.begin_object();
  write_common(json, facts);
  write_spec(json, facts.row);
  write_waiting(json, facts.waiting);
  if (store::is_final(facts.row.state)) {
    json.key("result");
    wire::write_task_result(json, result_told(facts.row));
  } else {
    json.key("result").null();
  }
  json.end_object();
}

}  // namespace outhaul::hub
