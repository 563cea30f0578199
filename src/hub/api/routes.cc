#include "hub/api/routes.h"

#include <utility>

namespace outhaul::hub {
namespace {

std::string full(std::string_view path) { return std::string(api_root).append(path); }

RequestFacts facts_of(const http::RequestContext& context) {
  return {context.request().headers.value_or_empty("Authorization")};
}

Task<void> answer(http::RequestContext& context, Result<http::Response> response) {
  if (response) {
    co_await context.respond(std::move(*response));
  } else {
    co_await context.respond_error(std::move(response).error());
  }
}

}  // namespace

Task<Result<Principal>> RouteTable::admit(Admission& admission, HubAudit& audit,
                                          const http::RequestContext& context, ProtectedRoute route) {
  auto principal = co_await admission.admit(facts_of(context), route.action);
  if (!principal && principal.error().error_class() != ErrorClass::retry) {
    audit.note_refusal(audit::AuditEntry(audit::AuditAction::request_refused, "", route.name)
                           .with("address", context.peer().address)
                           .refused_by(principal.error()));
  }
  co_return principal;
}

void RouteTable::add(http::Method method, std::string_view path, std::string name, Action action,
                     PlainHandler handler) {
  auto protect = [&admission = admission_, &audit = audit_, asked = ProtectedRoute{name, action},
                  handler = std::move(handler)](http::RequestContext& context) -> Task<void> {
    auto principal = co_await admit(admission, audit, context, asked);
    if (!principal) co_return co_await context.respond_error(std::move(principal).error());
    context.trust_connection();
    co_await answer(context, co_await handler(context, std::move(*principal)));
  };
  entries_.push_back({{method, full(path), std::move(name), std::move(protect)}, action});
}

void RouteTable::add_streaming(http::Method method, std::string_view path, std::string name, Action action,
                               StreamingHandler handler) {
  auto protect = [&admission = admission_, &audit = audit_, asked = ProtectedRoute{name, action},
                  handler = std::move(handler)](http::RequestContext& context) -> Task<void> {
    auto principal = co_await admit(admission, audit, context, asked);
    if (!principal) co_return co_await context.respond_error(std::move(principal).error());
    context.trust_connection();
    auto work = handler(context, *principal);
    auto answered = co_await admission.while_valid(*std::move(principal), std::move(work));
    if (!answered && !context.is_answered()) co_await context.respond_error(std::move(answered).error());
  };
  entries_.push_back({{method, full(path), std::move(name), std::move(protect)}, action});
}

void RouteTable::add_public(http::Method method, std::string pattern, std::string name,
                            PublicHandler handler) {
  auto open = [handler = std::move(handler)](http::RequestContext& context) -> Task<void> {
    co_await answer(context, co_await handler(context));
  };
  entries_.push_back({{method, std::move(pattern), std::move(name), std::move(open)}, std::nullopt});
}

void RouteTable::add_public_streaming(http::Method method, std::string pattern, std::string name,
                                      http::Handler handler) {
  entries_.push_back({{method, std::move(pattern), std::move(name), std::move(handler)}, std::nullopt});
}

http::Router RouteTable::router() const {
  std::vector<http::Route> routes;
  for (const auto& entry : entries_) routes.push_back(entry.route);
  return http::Router(std::move(routes));
}

RouteTable make_api(Hub& hub) {
  RouteTable table(hub.admission(), hub.audit());
  add_service_routes(table, hub);
  add_account_routes(table, hub);
  add_user_key_routes(table, hub);
  add_node_routes(table, hub);
  add_renewal_routes(table, hub);
  add_departure_routes(table, hub);
  add_approval_routes(table, hub);
  add_task_routes(table, hub);
  add_stream_routes(table, hub);
  add_audit_routes(table, hub);
  return table;
}

}  // namespace outhaul::hub
