// Questions to the people at nodes, for administrators whom a node's owner lets answer.
#include "http/json_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"
#include "hub/nodes/node_service.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

constexpr std::size_t max_body_bytes = 4096;

void write_question(http::JsonWriter& json, const NodeRecord& node, const v1::Question& question) {
  json.begin_object().field("id", question.task_id()).field("task_id", question.task_id());
  json.field("node_id", node.row.id.text()).field("node_name", node.row.name);
  write_time(json, "asked_at", WallTime{question.asked_at_ns()});
  write_time(json, "deadline", WallTime{question.deadline_ns()});
  json.field("may_be_answered", question.may_be_answered());
  json.field("may_be_for_session", question.may_be_for_session());
  write_text_or_null(json, "why", question.why());
  write_text_or_null(json, "program", question.program());
  write_text_or_null(json, "program_sha256", question.program_sha256());
  json.end_object();
}

Answer list_approvals(Hub& hub) {
  http::JsonWriter json;
  json.begin_object().key("items").begin_array();
  for (const auto* node : hub.nodes().attached()) {
    for (const auto& [task, question] : node->attachment->questions) write_question(json, *node, question);
  }
  json.end_array().key("next_cursor").null().end_object();
  co_return http::json_response(200, std::move(json).take_text());
}

Answer answer_approval(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  v1::AnswerQuestion answer;
  answer.set_task_id(context.path_value("id"));
  answer.set_answer(json.string("answer"));
  answer.set_account_id(principal.account.text());
  const bool is_known =
      answer.answer() == "once" || answer.answer() == "session" || answer.answer() == "never";
  if (!is_known) json.refuse("answer", "must be once, session or never");
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_CHECK(hub.nodes().answer_question(answer));
  co_return http::Response{.status = 202, .headers = {}, .body = {}};
}

}  // namespace

void add_approval_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  table.add(Method::get, "/approvals", "list_approvals", Action::manage_nodes,
            [&hub](http::RequestContext&, Principal) { return list_approvals(hub); });
  table.add(Method::post, "/approvals/{id}", "answer_approval", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return answer_approval(hub, context, std::move(who));
            });
}

}  // namespace outhaul::hub
