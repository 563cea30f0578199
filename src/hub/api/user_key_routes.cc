// The public keys of people: register, list, remove.
#include "crypto/user_key.h"
#include "http/json_reader.h"
#include "hub/accounts/user_key_service.h"
#include "hub/api/query_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

constexpr std::size_t max_body_bytes = 4096;
constexpr std::size_t max_key_bytes = 128;

Answer add_key(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  UserKeyService::Wish wish{principal.account, json.string("public_key", max_key_bytes), {}};
  wish.name = json.find_string("name", UserKeyService::max_name_bytes).value_or("");
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_TRY(row, co_await hub.user_keys().add(std::move(wish)));
  audit::AuditEntry entry(audit::AuditAction::user_key_added, principal.account.text(), row.id.text());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry).with("name", row.name)));
  co_return item_response(201, row, write_user_key);
}

Answer list_keys(Hub& hub, http::RequestContext& context, Principal principal) {
  QueryReader query(context.request().query);
  auto page = query.page();
  OUTHAUL_CO_CHECK(query.finish());
  const auto whose = principal.is_admin() ? AccountId() : principal.account;
  OUTHAUL_CO_TRY(keys, co_await hub.user_keys().list(whose, std::move(page)));
  co_return page_response(keys.rows, keys.next_cursor, write_user_key);
}

Answer remove_key(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, KeyId::parse(context.path_value("id")));
  audit::AuditEntry entry(audit::AuditAction::user_key_removed, principal.account.text(), id.text());
  OUTHAUL_CO_CHECK(co_await hub.user_keys().remove(id, std::move(principal)));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

}  // namespace

void add_user_key_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  const auto action = Action::use_own_keys;
  table.add(Method::post, "/keys", "add_key", action, [&hub](http::RequestContext& context, Principal who) {
    return add_key(hub, context, std::move(who));
  });
  table.add(Method::get, "/keys", "list_keys", action, [&hub](http::RequestContext& context, Principal who) {
    return list_keys(hub, context, std::move(who));
  });
  table.add(Method::del, "/keys/{id}", "remove_key", action,
            [&hub](http::RequestContext& context, Principal who) {
              return remove_key(hub, context, std::move(who));
            });
}

}  // namespace outhaul::hub
