// How a node takes itself out of the registry.
#include "http/json_reader.h"
#include "hub/api/routes.h"
#include "hub/nodes/departure.h"

namespace outhaul::hub {
namespace {

constexpr std::size_t max_body_bytes = 4U << 10U;
constexpr std::size_t max_base64_bytes = 256;

// The connection is the credential, as for a renewal.
Task<Result<http::Response>> leave(Hub& hub, http::RequestContext& context) {
  const auto& peer = context.peer();
  if (!peer.is_node_side) co_return fail(ErrorCode::not_found, "no such address");
  if (peer.certificate_der.empty()) {
    co_return fail(ErrorCode::certificate_invalid, "the node showed no certificate of this hub's authority");
  }
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  auto proof = parse_base64(json.string("proof", max_base64_bytes));
  if (!proof) json.refuse("proof", "must be base64");
  OUTHAUL_CO_CHECK(json.finish());
  DepartureRequest request{peer.certificate_der, std::move(*proof), peer.address};
  OUTHAUL_CO_CHECK(co_await hub.departure().leave(std::move(request)));
  co_return http::Response{.status = 204, .headers = {}, .body = {}};
}

}  // namespace

void add_departure_routes(RouteTable& table, Hub& hub) {
  table.add_public(http::Method::post, "/api/v1/leave", "leave_hub",
                   [&hub](http::RequestContext& context) { return leave(hub, context); });
}

}  // namespace outhaul::hub
