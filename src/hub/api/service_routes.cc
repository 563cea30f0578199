// What the deployment is, and who asks.
#include "base/version.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"
#include "transport/websocket_carrier.h"

namespace outhaul::hub {
namespace {

constexpr std::string_view features[] = {"tasks", "streams", "stdin", "events"};

Task<Result<http::Response>> health(http::RequestContext&) {
  http::Response response{200, {{"Content-Type", "text/plain"}}, "ok\n"};
  co_return std::move(response);
}

http::Response meta_response(Hub& hub) {
  const auto& authority = hub.keys().authority;
  http::JsonWriter json;
  json.begin_object().field("deployment", hub.settings().deployment).field("version", version());
  json.field("api", "v1").field("ca_fingerprint", authority.fingerprint().text());
  json.field("ca_bundle", authority.certificate().pem());
  json.key("capabilities").begin_array();
  for (const auto feature : features) json.value(feature);
  json.end_array();
  write_time(json, "time", hub.ports().clock.wall_now());
  json.end_object();
  return http::json_response(200, std::move(json).take_text());
}

http::Response whoami_response(const Principal& principal, const std::string& deployment) {
  http::JsonWriter json;
  json.begin_object()
      .field("account_id", principal.account.text())
      .field("account_name", principal.account_name);
  json.field("token_id", principal.token.text()).field("role", name_of(principal.role));
  json.field("deployment", deployment).end_object();
  return http::json_response(200, std::move(json).take_text());
}

// Elsewhere than on the node's side there is no such thing.
Task<void> open_tunnel(Hub& hub, http::RequestContext& context) {
  if (!context.peer().is_node_side) {
    co_return co_await context.respond_error(Error(ErrorCode::not_found, "no such address"));
  }
  auto carrier = co_await transport::accept_websocket_carrier(context);
  if (carrier) co_return hub.attach(std::move(*carrier));
  if (!context.is_answered()) co_await context.respond_error(std::move(carrier).error());
}

}  // namespace

void add_service_routes(RouteTable& table, Hub& hub) {
  table.add_public(http::Method::get, "/healthz", "health", health);
  table.add_public(
      http::Method::get, "/api/v1/meta", "get_meta",
      [&hub](http::RequestContext&) -> Task<Result<http::Response>> { co_return meta_response(hub); });
  table.add_public_streaming(http::Method::get, std::string(transport::tunnel_path), "open_tunnel",
                             [&hub](http::RequestContext& context) { return open_tunnel(hub, context); });
  table.add(http::Method::get, "/whoami", "whoami", Action::see_self,
            [&hub](http::RequestContext&, Principal principal) -> Task<Result<http::Response>> {
              co_return whoami_response(principal, hub.settings().deployment);
            });
}

}  // namespace outhaul::hub
