#include "node/enrolment/hub_request.h"

#include "base/within.h"
#include "http/client.h"
#include "http/json_writer.h"

namespace outhaul::node {
namespace {

constexpr std::size_t max_answer_bytes = 256 * 1024;
constexpr auto leave_limit = std::chrono::seconds(30);

}  // namespace

Task<Result<Bytes>> ask_hub(AsyncClock& clock, http::TlsClientContext& tls, HubAddress hub,
                            std::string target, Bytes body) {
  http::Client::Settings settings;
  settings.url = std::move(hub.url);
  settings.server_name = "node." + hub.deployment;
  http::Client client(clock, &tls, std::move(settings));
  http::ClientRequest request;
  request.method = http::Method::post;
  request.target = std::move(target);
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  OUTHAUL_CO_TRY(response, co_await client.call(std::move(request), max_answer_bytes));
  co_return std::move(response.body);
}

Task<Result<void>> leave_hub(AsyncClock& clock, http::TlsClientContext& tls, const Identity& identity,
                             http::Url hub) {
  http::JsonWriter json;
  json.begin_object().field("proof", to_base64(identity.sign_leave())).end_object();
  HubAddress address{std::move(hub), identity.enrolment().deployment};
  auto asking = ask_hub(clock, tls, std::move(address), "/api/v1/leave", std::move(json).take_text());
  const auto answer = co_await within(clock, clock.now() + leave_limit, std::move(asking));
  if (!answer) co_return fail(ErrorCode::deadline_exceeded, "the hub did not answer in time");
  if (!*answer && answer->error().code() != ErrorCode::node_removed) co_return fail(answer->error());
  co_return Result<void>();
}

}  // namespace outhaul::node
