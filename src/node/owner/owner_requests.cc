#include "node/owner/owner_requests.h"

#include "base/time_text.h"
#include "http/json_reader.h"
#include "http/json_writer.h"
#include "node/consent/consent_desk.h"
#include "node/node.h"

namespace outhaul::node {
namespace {

using http::JsonWriter;

struct OwnerRequest {
  std::string what;
  TaskId task;
  Answer answer = Answer::never;
};

Result<OwnerRequest> parse_request(ByteView text) {
  OUTHAUL_TRY(json, http::JsonReader::parse(text));
  OwnerRequest request;
  request.what = json.string("do");
  if (request.what == "answer") {
    const auto task = TaskId::parse(json.string("task"));
    const auto answer = find_answer(json.string("answer"));
    if (!task) json.refuse("task", "must be a task id");
    if (!answer) json.refuse("answer", "must be once, session or never");
    if (task) request.task = *task;
    if (answer) request.answer = *answer;
  }
  OUTHAUL_CHECK(json.finish());
  return request;
}

Bytes failure(const Error& error) {
  JsonWriter json;
  json.begin_object().key("error").begin_object();
  json.field("code", name_of(error.code())).field("message", error.what());
  json.end_object().end_object();
  return std::move(json).take_text();
}

void write_action(JsonWriter& json, const wire::TaskSpec& task) {
  if (const auto* argv = std::get_if<wire::ArgvAction>(&task.action)) {
    json.key("argv").begin_array();
    for (const auto& argument : argv->argv) json.value(argument);
    json.end_array();
  }
  if (const auto* shell = std::get_if<wire::ShellAction>(&task.action)) json.field("shell", shell->line);
  json.field("cwd", task.cwd).field("stdin", task.stdin_stream_id.has_value());
  json.key("env").begin_object();
  for (const auto& variable : task.env) json.field(variable.name, variable.value);
  json.end_object();
}

void write_question(JsonWriter& json, const Question& question, const wire::TaskSpec* task) {
  json.begin_object();
  json.field("task", question.task.text()).field("owner", question.owner.text());
  json.field("asked_at", time_text(question.asked_at)).field("deadline", time_text(question.deadline));
  json.field("may_be_for_session", question.may_be_for_session).field("why", question.why);
  json.field("program", question.program).field("program_sha256", question.program_sha256);
  if (task != nullptr) write_action(json, *task);
  json.end_object();
}

Bytes list(const Node& node) {
  JsonWriter json;
  json.begin_object().field("locked", node.is_locked()).key("questions").begin_array();
  for (const auto& [task, question] : node.consents().questions()) {
    if (!question.answer) write_question(json, question, node.find_task(task));
  }
  json.end_array().end_object();
  return std::move(json).take_text();
}

Bytes done(const Result<void>& outcome) { return outcome ? Bytes("{}") : failure(outcome.error()); }

}  // namespace

Task<Bytes> serve_owner_request(Node& node, Bytes request) {
  auto parsed = parse_request(request);
  if (!parsed) co_return failure(parsed.error());
  if (parsed->what == "list") co_return list(node);
  if (parsed->what == "answer") {
    const auto answered = co_await node.answer(parsed->task, parsed->answer, "owner");
    co_return done(answered);
  }
  if (parsed->what == "forget") {
    const auto forgotten = co_await node.forget_answers();
    co_return done(forgotten);
  }
  if (parsed->what == "lock") {
    node.note_lock();
    co_return node.is_locked() ? R"({"locked":true})" : R"({"locked":false})";
  }
  co_return failure(Error(ErrorCode::invalid, "an owner may ask for list, answer, forget or lock"));
}

}  // namespace outhaul::node
