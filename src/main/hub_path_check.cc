#include "main/hub_path_check.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <ctime>
#include <memory>
#include <optional>

#include "base/duration_text.h"
#include "base/system_clock.h"
#include "http/client.h"
#include "http/json_reader.h"
#include "http/tls_context.h"
#include "main/run_on_loop.h"

namespace outhaul {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_answer_bytes = 256 * 1024;
// Windows of tasks are judged on corrected time; certificates are backdated by an hour.
constexpr auto bearable_offset = 60s;
constexpr auto hopeless_offset = 50min;

// The addresses that the name stands for, as text; empty: `why` says what failed.
std::string resolve(const http::Url& hub, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = getaddrinfo(hub.host.c_str(), std::to_string(hub.port).c_str(), &hints, &found);
  if (fault != 0) {
    why = gai_strerror(fault);
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::string text;
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    char host[NI_MAXHOST] = {};
    if (getnameinfo(each->ai_addr, each->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    text += (text.empty() ? "" : ", ") + std::string(host);
  }
  return text;
}

Task<Result<void>> connect_plain(AsyncClock& clock, http::Url hub) {
  http::Client::Settings settings;
  settings.url = std::move(hub);
  http::Client client(clock, nullptr, std::move(settings));
  co_return co_await client.connect();
}

struct HubAnswer {
  Result<void> tls;
  std::optional<Result<Bytes>> meta;
};

Task<HubAnswer> ask(AsyncClock& clock, const http::TlsClientContext& tls, http::Client::Settings settings) {
  http::Client client(clock, &tls, std::move(settings));
  HubAnswer answer;
  answer.tls = co_await client.connect();
  if (!answer.tls) co_return answer;
  http::ClientRequest request;
  request.target = "/api/v1/meta";
  auto response = co_await client.call(std::move(request), max_answer_bytes);
  if (response) {
    answer.meta = std::move(response->body);
  } else {
    answer.meta = outhaul::fail(response.error());
  }
  co_return answer;
}

void check_clock(const std::string& hub_time, DoctorReport& report) {
  const auto time = parse_hub_time(hub_time);
  if (!time) return report.warn("clock", "the hub does not say its time", "Upgrade the hub.");
  const auto offset = SystemClock().wall_now() - *time;
  const auto apart = std::chrono::duration_cast<std::chrono::seconds>(offset < 0ns ? -offset : offset);
  const auto what =
      fmt::format("{} {} the hub's", duration_text(apart), offset < 0ns ? "behind" : "ahead of");
  const std::string remedy = "Let a time service set both clocks (`timedatectl set-ntp true`).";
  if (apart >= hopeless_offset) return report.fail("clock", what, remedy);
  if (apart >= bearable_offset) return report.warn("clock", what, remedy);
  report.ok("clock", "within a minute of the hub's");
}

void check_answer(const HubAnswer& answer, const node::Identity& identity, DoctorReport& report) {
  if (!answer.tls) return report.fail("tls", answer.tls.error());
  report.ok("tls", "the hub's certificate is of the authority that this node enrolled with");
  if (!*answer.meta) return report.fail("hub", answer.meta->error());
  auto json = http::JsonReader::parse(**answer.meta);
  if (!json) return report.fail("hub", json.error());
  const auto deployment = json->find_string("deployment").value_or("");
  if (deployment != identity.enrolment().deployment) {
    return report.fail("hub", "it is of another deployment: " + deployment,
                       "Dial the hub of this node with --hub.");
  }
  report.ok("hub",
            fmt::format("deployment {}, version {}", deployment, json->find_string("version").value_or("?")));
  check_clock(json->find_string("time").value_or(""), report);
}

}  // namespace

std::optional<WallTime> parse_hub_time(const std::string& text) {
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || text.empty() || text.back() != 'Z') return std::nullopt;
  return WallTime{static_cast<std::int64_t>(timegm(&parts)) * 1'000'000'000};
}

void check_path_to_hub(const http::Url& hub, const node::Identity& identity, DoctorReport& report) {
  std::string why;
  const auto addresses = resolve(hub, why);
  if (addresses.empty()) {
    return report.fail("dns", hub.host + ": " + why,
                       "Correct `hub` in node.yaml or this machine's resolver; `getent hosts " + hub.host +
                           "` must answer.");
  }
  report.ok("dns", hub.host + " is " + addresses);
  SystemClock clock;
  asio::io_context plain(1);
  const auto connected = run_on_loop(plain, connect_plain(clock, hub));
  if (!connected) {
    return report.fail(
        "tcp", hub.text() + ": " + connected.error().what(),
        fmt::format("See that the hub runs and that a firewall lets this machine out to port {}.", hub.port));
  }
  report.ok("tcp", hub.text() + " accepts connections");
  auto tls = http::TlsClientContext::trusting(identity.enrolment().ca_pem);
  if (!tls) return report.fail("tls", tls.error());
  const http::TlsIdentity shown{identity.chain_pem(), identity.tls_key_pem()};
  if (const auto set = tls->set_identity(shown); !set) return report.fail("tls", set.error());
  http::Client::Settings settings;
  settings.url = hub;
  settings.server_name = "node." + identity.enrolment().deployment;
  asio::io_context io(1);
  check_answer(run_on_loop(io, ask(clock, *tls, std::move(settings))), identity, report);
}

}  // namespace outhaul
