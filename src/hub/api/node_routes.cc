#include "base/duration_text.h"
#include "crypto/fingerprint.h"
#include "http/json_reader.h"
#include "hub/api/query_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"
#include "hub/nodes/node_service.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

constexpr std::size_t max_body_bytes = 64U << 10U;
constexpr std::size_t max_csr_bytes = 16U << 10U;
constexpr std::size_t max_token_bytes = 512;
constexpr std::size_t max_name_bytes = 128;
constexpr std::size_t max_base64_bytes = 256;
constexpr std::chrono::hours max_token_lifetime{24 * 30};

Bytes base64_of(http::JsonReader& json, std::string_view key) {
  const auto bytes = parse_base64(json.string(key, max_base64_bytes));
  if (!bytes) json.refuse(key, "must be base64");
  return bytes.value_or(Bytes());
}

Result<EnrolmentRequest> read_enrolment(ByteView body, const std::string& address) {
  OUTHAUL_TRY(json, http::JsonReader::parse(body));
  EnrolmentRequest request;
  request.token = json.string("token", max_token_bytes);
  request.csr_pem = json.string("csr", max_csr_bytes);
  request.signing_key = base64_of(json, "signing_key");
  request.proof = base64_of(json, "proof");
  request.name = json.string("name", max_name_bytes);
  request.is_ephemeral = json.find_boolean("ephemeral").value_or(false);
  request.address = address;
  OUTHAUL_CHECK(json.finish());
  return request;
}

void note_enrolment_refused(Hub& hub, const EnrolmentRequest& request, const Error& reason) {
  hub.audit().note_refusal(audit::AuditEntry(audit::AuditAction::enrolment_refused, "", request.name)
                               .with("address", request.address)
                               .refused_by(reason));
}

// 202: the machine shows its fingerprint and asks again.
Answer answer_waiting(Hub& hub, WaitingEnrolment waiting) {
  const auto& wish = *waiting.token.wish;
  if (waiting.is_new) {
    audit::AuditEntry entry(audit::AuditAction::enrolment_asked, "", waiting.token.id.text());
    entry = std::move(entry).with("name", wish.name).with("address", wish.address);
    OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry).with("fingerprint", wish.fingerprint)));
  }
  co_return item_response(202, waiting.token, write_waiting_enrolment);
}

Answer enrol(Hub& hub, http::RequestContext& context) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(request, read_enrolment(body, context.peer().address));
  auto asked = co_await hub.enrolment().ask_approval(request);
  if (!asked) note_enrolment_refused(hub, request, asked.error());
  OUTHAUL_CO_CHECK(asked);
  if (*asked) co_return co_await answer_waiting(hub, std::move(**asked));
  auto answer = co_await hub.enrolment().enrol(request);
  if (!answer) {
    note_enrolment_refused(hub, request, answer.error());
    co_return fail(answer.error());
  }
  const auto& name = request.name;
  const auto node = hub.nodes().find(name);
  audit::AuditEntry entry(audit::AuditAction::node_enrolled, "", node ? (*node)->row.id.text() : name);
  entry = std::move(entry).with("name", name).with("address", context.peer().address);
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return http::json_response(200, *std::move(answer));
}

Result<NodeTokenWish> read_wish(ByteView body) {
  NodeTokenWish wish;
  wish.planes = {"task"};
  if (body.empty()) return wish;
  OUTHAUL_TRY(json, http::JsonReader::parse(body));
  wish.pool = json.find_string("pool", max_name_bytes).value_or(wish.pool);
  for (auto& [name, value] : json.find_string_map("labels")) wish.labels.emplace(name, value);
  wish.needs_approval = json.find_boolean("approve").value_or(false);
  if (json.has("planes")) {
    const auto planes = json.find_strings("planes", wire::plane_count);
    wish.planes = store::Planes(planes.begin(), planes.end());
  }
  if (const auto text = json.find_string("expires_in", 64)) {
    const auto span = parse_duration(*text);
    if (span && span->count() > 0 && *span <= max_token_lifetime) {
      wish.expires_in = *span;
    } else {
      json.refuse("expires_in", "must be a duration of at most " + duration_text(max_token_lifetime));
    }
  }
  OUTHAUL_CHECK(json.finish());
  return wish;
}

Answer create_node_token(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(wish, read_wish(body));
  wish.created_by = principal.account;
  OUTHAUL_CO_TRY(made, co_await hub.enrolment().create_token(std::move(wish)));
  audit::AuditEntry entry(audit::AuditAction::node_token_created, principal.account.text(),
                          made.row.id.text());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry).with("pool", made.row.pool)));
  const NodeTokenFacts facts{made, hub.settings().deployment, hub.keys().authority.fingerprint().text()};
  co_return item_response(201, facts, write_new_node_token);
}

Answer list_node_tokens(Hub& hub, http::RequestContext& context) {
  QueryReader query(context.request().query);
  auto page = query.page();
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(tokens, co_await hub.enrolment().list_tokens(std::move(page)));
  co_return page_response(tokens.rows, tokens.next_cursor, write_node_token);
}

Answer revoke_node_token(Hub& hub, http::RequestContext& context, Principal principal) {
  const auto id = EnrolmentTokenId::parse(context.path_value("id"));
  if (!id) co_return fail(ErrorCode::not_found, "no such token");
  OUTHAUL_CO_CHECK(co_await hub.enrolment().revoke_token(*id));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(
      audit::AuditEntry(audit::AuditAction::node_token_revoked, principal.account.text(), id->text())));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

Answer list_waiting(Hub& hub, http::RequestContext& context) {
  QueryReader query(context.request().query);
  const auto page = query.page();
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(waiting, co_await hub.enrolment().list_waiting());
  // Newest first, as they come.
  std::erase_if(waiting,
                [&page](const auto& row) { return !page.cursor.empty() && row.id.text() >= page.cursor; });
  std::string next;
  if (waiting.size() > page.limit) {
    waiting.resize(page.limit);
    next = waiting.back().id.text();
  }
  co_return page_response(waiting, next, write_waiting_enrolment);
}

Answer decide_enrolment(Hub& hub, http::RequestContext& context, Principal principal) {
  const auto id = EnrolmentTokenId::parse(context.path_value("id"));
  if (!id) co_return fail(ErrorCode::not_found, "no such enrolment");
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  const bool is_approved = json.boolean("approve");
  const auto fingerprint = crypto::Fingerprint::parse(json.string("fingerprint", max_name_bytes));
  if (!fingerprint) json.refuse("fingerprint", "must be sha256: and 64 hex digits");
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_CHECK(co_await hub.enrolment().decide(*id, fingerprint->text(), is_approved));
  const auto action =
      is_approved ? audit::AuditAction::enrolment_approved : audit::AuditAction::enrolment_denied;
  audit::AuditEntry entry(action, principal.account.text(), id->text());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry).with("fingerprint", fingerprint->text())));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

Answer list_nodes(Hub& hub, http::RequestContext& context) {
  QueryReader query(context.request().query);
  const auto page = query.page();
  const auto pool = query.text("pool", max_name_bytes);
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(nodes, hub.nodes().list(page, pool));
  const auto write = [](http::JsonWriter& json, const NodeRecord* record) { write_node(json, *record); };
  co_return page_response(nodes.records, nodes.next_cursor, write);
}

Answer get_node(Hub& hub, std::string id_or_name) {
  OUTHAUL_CO_TRY(record, hub.nodes().find(id_or_name));
  co_return item_response(200, *record, write_node);
}

Answer drain_node(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  const bool drain = json.boolean("drain");
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_TRY(id, co_await hub.nodes().set_drain(context.path_value("id"), drain));
  const auto action = drain ? audit::AuditAction::node_drained : audit::AuditAction::node_undrained;
  audit::AuditEntry entry(action, principal.account.text(), id.text());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return co_await get_node(hub, id.text());
}

Answer remove_node(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(record, hub.nodes().find(context.path_value("id")));
  audit::AuditEntry entry(audit::AuditAction::node_removed, principal.account.text(), record->row.id.text());
  entry = std::move(entry).with("name", record->row.name);
  OUTHAUL_CO_CHECK(co_await hub.nodes().remove(context.path_value("id")));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

}  // namespace

void add_node_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  table.add_public(Method::post, "/api/v1/enroll", "enroll_node",
                   [&hub](http::RequestContext& context) { return enrol(hub, context); });
  table.add(Method::post, "/node-tokens", "create_node_token", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return create_node_token(hub, context, std::move(who));
            });
  table.add(Method::get, "/node-tokens", "list_node_tokens", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal) { return list_node_tokens(hub, context); });
  table.add(Method::del, "/node-tokens/{id}", "revoke_node_token", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return revoke_node_token(hub, context, std::move(who));
            });
  table.add(Method::get, "/enrolments", "list_enrolments", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal) { return list_waiting(hub, context); });
  table.add(Method::post, "/enrolments/{id}", "decide_enrolment", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return decide_enrolment(hub, context, std::move(who));
            });
  table.add(Method::get, "/nodes", "list_nodes", Action::see_nodes,
            [&hub](http::RequestContext& context, Principal) { return list_nodes(hub, context); });
  table.add(
      Method::get, "/nodes/{id}", "get_node", Action::see_nodes,
      [&hub](http::RequestContext& context, Principal) { return get_node(hub, context.path_value("id")); });
  table.add(Method::del, "/nodes/{id}", "remove_node", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return remove_node(hub, context, std::move(who));
            });
  table.add(Method::post, "/nodes/{id}/drain", "drain_node", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal who) {
              return drain_node(hub, context, std::move(who));
            });
}

}  // namespace outhaul::hub
