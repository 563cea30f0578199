#include "base/duration_text.h"
#include "http/json_reader.h"
#include "hub/api/query_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

constexpr std::size_t max_body_bytes = 16U << 10U;
constexpr std::size_t max_name_bytes = 128;

store::Role role_of(http::JsonReader& json, const std::string& word) {
  if (word == "admin") return store::Role::admin;
  if (word != "member") json.refuse("role", "must be admin or member");
  return store::Role::member;
}

Answer create_account(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  auto name = json.string("name", max_name_bytes);
  const auto role = role_of(json, json.find_string("role").value_or("member"));
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_TRY(row, co_await hub.accounts().create(std::move(name), role));
  audit::AuditEntry entry(audit::AuditAction::account_created, principal.account.text(), row.id.text());
  entry = std::move(entry).with("name", row.name).with("role", std::string(name_of(role)));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return item_response(201, row, write_account);
}

Answer list_accounts(Hub& hub, http::RequestContext& context) {
  QueryReader query(context.request().query);
  auto page = query.page();
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(accounts, co_await hub.accounts().list(std::move(page)));
  co_return page_response(accounts.rows, accounts.next_cursor, write_account);
}

Answer disable_account(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(row, co_await hub.accounts().disable(context.path_value("id"), principal.account));
  audit::AuditEntry entry(audit::AuditAction::account_disabled, principal.account.text(), row.id.text());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return item_response(200, row, write_account);
}

Answer create_token(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  AccountService::TokenWish wish;
  wish.role = role_of(json, json.string("role"));
  wish.account = json.find_string("account", max_name_bytes).value_or(principal.account.text());
  wish.name = json.find_string("name", AccountService::max_token_name_bytes).value_or("");
  if (const auto text = json.find_string("expires_in", 64)) {
    const auto span = parse_duration(*text);
    if (span && span->count() > 0) {
      wish.expires_in = *span;
    } else {
      json.refuse("expires_in", "must be a duration, such as 24h");
    }
  }
  OUTHAUL_CO_CHECK(json.finish());
  OUTHAUL_CO_TRY(made, co_await hub.accounts().create_token(std::move(wish)));
  audit::AuditEntry entry(audit::AuditAction::token_created, principal.account.text(), made.row.id.text());
  entry = std::move(entry).with("account", made.row.account.text());
  entry = std::move(entry).with("role", std::string(name_of(made.row.role)));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return item_response(201, made, write_new_token);
}

Answer list_tokens(Hub& hub, http::RequestContext& context, Principal principal) {
  QueryReader query(context.request().query);
  auto page = query.page();
  OUTHAUL_CO_CHECK(query.finish());
  const auto whose = principal.is_admin() ? AccountId() : principal.account;
  OUTHAUL_CO_TRY(tokens, co_await hub.accounts().list_tokens(whose, std::move(page)));
  co_return page_response(tokens.rows, tokens.next_cursor, write_token);
}

Answer delete_token(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, ApiTokenId::parse(context.path_value("id")));
  audit::AuditEntry entry(audit::AuditAction::token_revoked, principal.account.text(), id.text());
  OUTHAUL_CO_CHECK(co_await hub.accounts().revoke_token(id, std::move(principal)));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

}  // namespace

void add_account_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  table.add(Method::post, "/accounts", "create_account", Action::manage_accounts,
            [&hub](http::RequestContext& context, Principal who) {
              return create_account(hub, context, std::move(who));
            });
  table.add(Method::get, "/accounts", "list_accounts", Action::manage_accounts,
            [&hub](http::RequestContext& context, Principal) { return list_accounts(hub, context); });
  table.add(Method::post, "/accounts/{id}/disable", "disable_account", Action::manage_accounts,
            [&hub](http::RequestContext& context, Principal who) {
              return disable_account(hub, context, std::move(who));
            });
  table.add(Method::post, "/tokens", "create_token", Action::manage_accounts,
            [&hub](http::RequestContext& context, Principal who) {
              return create_token(hub, context, std::move(who));
            });
  table.add(Method::get, "/tokens", "list_tokens", Action::use_own_tokens,
            [&hub](http::RequestContext& context, Principal who) {
              return list_tokens(hub, context, std::move(who));
            });
  table.add(Method::del, "/tokens/{id}", "delete_token", Action::use_own_tokens,
            [&hub](http::RequestContext& context, Principal who) {
              return delete_token(hub, context, std::move(who));
            });
}

}  // namespace outhaul::hub
