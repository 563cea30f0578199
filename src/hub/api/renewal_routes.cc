// How nodes take new certificates, and how people make them do so.
#include "http/json_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"
#include "hub/audit/hub_audit.h"
#include "hub/nodes/node_service.h"
#include "hub/nodes/renewal.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

constexpr std::size_t max_body_bytes = 32U << 10U;
constexpr std::size_t max_csr_bytes = 16U << 10U;
constexpr std::size_t max_base64_bytes = 256;

// The connection is the credential: TLS has seen that the caller holds the key of the certificate. One that
// has ended passes here and nowhere else.
Answer renew(Hub& hub, http::RequestContext& context) {
  const auto& peer = context.peer();
  if (!peer.is_node_side) co_return fail(ErrorCode::not_found, "no such address");
  if (peer.certificate_der.empty()) {
    co_return fail(ErrorCode::certificate_invalid, "the node showed no certificate of this hub's authority");
  }
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_body_bytes));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(body));
  RenewalRequest request;
  request.certificate_der = peer.certificate_der;
  request.csr_pem = json.string("csr", max_csr_bytes);
  auto proof = parse_base64(json.string("proof", max_base64_bytes));
  if (!proof) json.refuse("proof", "must be base64");
  OUTHAUL_CO_CHECK(json.finish());
  request.proof = std::move(*proof);
  request.address = peer.address;
  OUTHAUL_CO_TRY(answer, co_await hub.renewal().renew(std::move(request)));
  co_return http::json_response(200, std::move(answer));
}

Answer rotate(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, co_await hub.renewal().rotate(context.path_value("id")));
  OUTHAUL_CO_CHECK(co_await hub.audit().write(
      audit::AuditEntry(audit::AuditAction::rotation_asked, principal.account.text(), id.text())));
  OUTHAUL_CO_TRY(record, hub.nodes().find(id.text()));
  co_return item_response(200, *record, write_node);
}

}  // namespace

void add_renewal_routes(RouteTable& table, Hub& hub) {
  table.add_public(http::Method::post, "/api/v1/renew", "renew_certificate",
                   [&hub](http::RequestContext& context) { return renew(hub, context); });
  table.add(http::Method::post, "/nodes/{id}/rotate", "rotate_node", Action::manage_nodes,
            [&hub](http::RequestContext& context, Principal principal) {
              return rotate(hub, context, std::move(principal));
            });
}

}  // namespace outhaul::hub
