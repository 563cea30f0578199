// A task's result as JSON, in the one form that the hub's answers and the command line share. For any writer
// with the calls of http::JsonWriter: this folder knows none.
#pragma once

#include "base/time_text.h"
#include "wire/task_result.h"

namespace outhaul::wire {

// How the program went: of its own, or once it was asked to end. Null: not at all, or nobody knows.
template <class Way>
const Way* program_end_as(const TaskEnd& end) {
  if (const auto* const way = std::get_if<Way>(&end)) return way;
  const auto* const failed = std::get_if<Failed>(&end);
  return failed != nullptr && failed->program ? std::get_if<Way>(&*failed->program) : nullptr;
}

template <class Json>
void write_program_end(Json& json, const TaskEnd& end) {
  const auto* const exited = program_end_as<Exited>(end);
  const auto* const signalled = program_end_as<Signalled>(end);
  exited != nullptr ? json.field("exit_code", exited->code) : json.key("exit_code").null();
  signalled != nullptr ? json.field("signal", signalled->signal) : json.key("signal").null();
}

template <class Json>
void write_task_end(Json& json, const TaskEnd& end) {
  json.field("end", state_of(end));
  write_program_end(json, end);
  const auto* const failed = std::get_if<Failed>(&end);
  failed != nullptr ? json.field("error_code", name_of(failed->code)) : json.key("error_code").null();
  const bool has_message = failed != nullptr && !failed->message.empty();
  has_message ? json.field("error_message", failed->message) : json.key("error_message").null();
}

// Writes one object. docs/openapi.json has its schema as TaskResult.
template <class Json>
void write_task_result(Json& json, const TaskResult& result) {
  json.begin_object();
  write_task_end(json, result.end);
  result.started_at ? json.field("started_at", time_text(*result.started_at)) : json.key("started_at").null();
  json.field("ended_at", time_text(result.ended_at));
  json.field("duration_ns", result.used.wall.count()).field("user_cpu_ns", result.used.user_cpu.count());
  json.field("system_cpu_ns", result.used.system_cpu.count())
      .field("max_rss_bytes", result.used.max_rss_bytes);
  json.field("stdout_bytes", result.out.bytes).field("stderr_bytes", result.err.bytes);
  json.field("stdout_sha256", to_hex(result.out.sha256)).field("stderr_sha256", to_hex(result.err.sha256));
  json.field("bytes_left_out", result.bytes_left_out).field("processes_killed", result.processes_killed);
  json.field("pipe_holder", result.pipe_holder).field("isolation", name_of(result.isolation));
  json.end_object();
}

}  // namespace outhaul::wire
