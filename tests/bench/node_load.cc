// Many idle nodes in one process, for scripts/bench: each enrols with keys of its own and holds a real
// tunnel (WebSocket, TLS 1.3, the real session and its heartbeats). A node that loses its hub dials again as
// nodes do.
//   node_load URL CA_FINGERPRINT TOKEN_FILE COUNT
// Prints "attached" each time that all of them hold a session after not all of them did. Runs until it is
// killed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>

#include "base/system_clock.h"
#include "base/task_group.h"
#include "crypto/system_random.h"
#include "http/client.h"
#include "http/json_reader.h"
#include "main/websocket_dialer.h"
#include "node/enrolment/enrol.h"
#include "transport/tunnel.h"
#include "wire/backoff.h"

namespace {

using namespace outhaul;
constexpr int enrolments_at_once = 8;

[[noreturn]] void give_up(const Error& error) {
  std::fputs(fmt::format("node_load: {} ({})\n", error.what(), name_of(error.code())).c_str(), stderr);
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error());
  return std::move(*result);
}

struct Shared {
  asio::io_context io{1};
  SystemClock clock;
  crypto::SystemRandom random;
  TaskGroup group{io.get_executor()};
  http::Url hub;
  crypto::Fingerprint fingerprint = must(crypto::Fingerprint::parse("sha256:" + std::string(64, '0')));
  std::string token;
  std::filesystem::path root;
  int count = 0;
  int attached = 0;
};

class IdleHandler final : public transport::TunnelHandler {
 public:
  void on_control(const v1::Control&) override {}
  void on_open(transport::IncomingChannel) override {}
};

class LoadNode {
 public:
  LoadNode(Shared& shared, node::Identity identity) : shared_(shared), identity_(std::move(identity)) {
    const auto& enrolment = identity_.enrolment();
    tls_ = std::make_unique<http::TlsClientContext>(must(http::TlsClientContext::trusting(enrolment.ca_pem)));
    const http::TlsIdentity shown{enrolment.chain_pem, identity_.tls_key_pem()};
    if (auto set = tls_->set_identity(shown); !set) give_up(set.error());
    dialer_ = std::make_unique<WebSocketDialer>(shared.clock, shared.random, *tls_, shared.hub,
                                                "node." + enrolment.deployment);
  }

  Task<void> live() {
    wire::Backoff backoff(identity_.enrolment().node.text());
    const auto instance = InstanceId::make(shared_.clock.wall_now(), shared_.random);
    for (;;) {
      auto failure = co_await attach(instance);
      co_await shared_.clock.sleep_for(backoff.next(transport::retry_after_of(failure)));
    }
  }

 private:
  Task<Error> attach(InstanceId instance) {
    auto carrier = co_await dialer_->dial();
    if (!carrier) co_return carrier.error();
    wire::NodeSession::Config config;
    config.observed_spki = (*carrier)->peer().hub_spki;
    v1::Hello hello;
    hello.set_instance_id(instance.text());
    hello.set_version("bench");
    hello.mutable_manifest()->set_platform("linux/amd64");
    transport::TunnelPorts ports{shared_.clock, shared_.random};
    auto dialled =
        co_await transport::dial_tunnel(std::move(*carrier), config, identity_, std::move(hello), ports);
    if (!dialled) co_return dialled.error();
    if (++shared_.attached == shared_.count) {
      std::puts("attached");
      std::fflush(stdout);
    }
    IdleHandler handler;
    auto reason = co_await dialled->tunnel.run(handler);
    --shared_.attached;
    co_return reason;
  }

  Shared& shared_;
  node::Identity identity_;
  std::unique_ptr<http::TlsClientContext> tls_;
  std::unique_ptr<WebSocketDialer> dialer_;
};

Task<Secret> make_token(Shared& shared, http::Client& client) {
  http::ClientRequest request;
  request.method = http::Method::post;
  request.target = "/api/v1/node-tokens";
  request.headers.add("Authorization", "Bearer " + shared.token);
  request.headers.add("Content-Type", "application/json");
  request.body = "{}";
  auto response = must(co_await client.call(std::move(request)));
  auto reader = must(http::JsonReader::parse(response.body));
  co_return Secret(reader.string("token"));
}

Task<void> enrol_share(Shared& shared, std::vector<std::unique_ptr<LoadNode>>& nodes, int& next) {
  const auto tls = must(http::TlsClientContext::pinning(shared.fingerprint));
  http::Client::Settings settings;
  settings.url = shared.hub;
  http::Client client(shared.clock, &tls, settings);
  while (next < shared.count) {
    const int number = next++;
    const auto path = shared.root / std::to_string(number);
    const auto directory = must(crypto::DataDirectory::create_or_open(path, crypto::DataOwner::node));
    auto token = co_await make_token(shared, client);
    node::EnrolmentOrder order{shared.hub, shared.fingerprint, std::move(token),
                               fmt::format("load-{}", number)};
    must(co_await node::enrol(directory, std::move(order), shared.clock, shared.random));
    nodes.push_back(std::make_unique<LoadNode>(shared, must(node::Identity::load(directory))));
  }
}

void raise_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  raise_open_files();
  Shared shared;
  shared.hub = must(http::parse_url(argv[1]));
  shared.fingerprint = must(crypto::Fingerprint::parse(argv[2]));
  std::ifstream file(argv[3]);
  std::getline(file, shared.token);
  shared.count = std::atoi(argv[4]);
  shared.root = fmt::format("/dev/shm/outhaul-node-load-{}", ::getpid());
  std::vector<std::unique_ptr<LoadNode>> nodes;
  int next = 0;
  shared.group.spawn([&]() -> Task<void> {
    TaskGroup enrolling(shared.io.get_executor());
    for (int i = 0; i < enrolments_at_once; ++i) {
      enrolling.spawn([&]() -> Task<void> { return enrol_share(shared, nodes, next); });
    }
    co_await enrolling.join();
    std::filesystem::remove_all(shared.root);
    for (auto& node : nodes) {
      shared.group.spawn([&node]() -> Task<void> { return node->live(); });
    }
  });
  shared.io.run();
  return 0;
}
