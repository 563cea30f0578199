#include "tests/sim/sim_renewal.h"

#include "crypto/certificate_request.h"
#include "crypto/statement.h"
#include "http/json_reader.h"
#include "hub/hub.h"
#include "hub/nodes/renewal.h"
#include "testing/sim_network.h"
#include "testing/sim_world.h"
#include "tests/sim/sim_deployment.h"

namespace outhaul::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration one_way = 20ms;
constexpr Duration answer_limit = 10s;
constexpr Duration look_interval = 50ms;

std::unexpected<Error> no_answer() { return fail(ErrorCode::deadline_exceeded, "renewal: no answer"); }

// Shared by the asking process and the hub's: either may die first, so it holds nothing of theirs.
using Answer = std::shared_ptr<std::optional<Result<Bytes>>>;

Task<void> serve(hub::Hub& hub, hub::RenewalRequest request, Answer answer) {
  *answer = co_await hub.renewal().renew(std::move(request));
}

}  // namespace

node::CertificateLife SimRenewal::life() const {
  const auto certificate = shown();
  return {certificate.issued_at, certificate.expires_at};
}

transport::PeerCertificate SimRenewal::shown() const {
  return transport::describe_peer_certificate(ports_.files.certificate);
}

Task<Result<node::CertificateLife>> SimRenewal::renew() {
  if (ports_.files.next_key_pem.empty()) {
    auto drawn = crypto::TlsKey::generate().value().pem();
    ports_.files.next_key_pem = std::string(drawn.reveal_for("simulated file"));
  }
  const auto key = crypto::TlsKey::parse_pem(Secret(ports_.files.next_key_pem)).value();
  const auto request_pem = crypto::make_certificate_request(key, "a machine").value();
  const auto& der = ports_.files.certificate.der();
  hub::RenewalRequest request{der, request_pem,
                              ports_.identity.sign(crypto::renewal_statement(der, request_pem))};
  OUTHAUL_CO_TRY(answer, co_await exchange(std::move(request)));
  OUTHAUL_CO_TRY(json, http::JsonReader::parse(answer));
  OUTHAUL_CO_TRY(chain, crypto::Certificate::parse_pem_bundle(json.string("chain")));
  ports_.files = {std::move(chain.front()), {}};
  co_return life();
}

Task<Result<Bytes>> SimRenewal::exchange(hub::RenewalRequest request) {
  const auto process = process_.lock();
  auto& clock = process->clock();
  auto& world = process->world();
  co_await clock.sleep_for(one_way);
  if (ports_.network.is_silent(path_)) {
    co_await clock.sleep_for(answer_limit);
    co_return no_answer();
  }
  if (ports_.desk.hub == nullptr) co_return fail(ErrorCode::unavailable, "renewal: connection refused");
  const auto answer = std::make_shared<std::optional<Result<Bytes>>>();
  auto arrive = [&desk = ports_.desk, request = std::move(request), answer] {
    if (desk.hub == nullptr) return;
    auto body = [hub = desk.hub, request, answer] { return serve(*hub, request, answer); };
    desk.group->spawn(std::move(body));
  };
  world.at(world.now() + one_way, ports_.desk.process, std::move(arrive));
  const auto limit = clock.now() + answer_limit;
  while (!answer->has_value() && clock.now() < limit) co_await clock.sleep_for(look_interval);
  if (!answer->has_value() || ports_.network.is_silent(path_)) co_return no_answer();
  co_return std::move(**answer);
}

}  // namespace outhaul::sim
