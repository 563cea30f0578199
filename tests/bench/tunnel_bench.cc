// One interactive and one bulk channel over one real tunnel (WebSocket, TLS 1.3, loopback) between two
// processes, for scripts/bench. The node echoes on the interactive channel and sends without end on the
// other. Prints one JSON line with the hub's round trips, idle and busy, and the bulk rate.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>

#include "base/system_clock.h"
#include "base/task_group.h"
#include "crypto/certificate_authority.h"
#include "crypto/statement.h"
#include "crypto/system_random.h"
#include "http/tls_connection.h"
#include "transport/tunnel.h"
#include "transport/websocket_carrier.h"

namespace {

using namespace outhaul;
using Clock = std::chrono::steady_clock;
constexpr int idle_runs = 3000;
constexpr int busy_runs = 3000;

template <class T>
T must(Result<T> result) {
  if (result) {
    if constexpr (std::is_void_v<T>) {
      return;
    } else {
      return std::move(*result);
    }
  }
  std::fputs(fmt::format("tunnel_bench: {}\n", result.error().what()).c_str(), stderr);
  std::exit(1);
}

// Everything that both processes need, made before the fork.
struct World {
  crypto::SystemRandom random;
  SystemClock clock;
  crypto::Validity validity{clock.wall_now(), std::chrono::hours(24)};
  crypto::CertificateAuthority authority =
      must(crypto::CertificateAuthority::make("bench", validity, random));
  crypto::TlsKey server_key = must(crypto::TlsKey::generate());
  crypto::Certificate server =
      must(authority.issue_server(server_key.spki(), {{"node.bench.internal"}, {}}, validity, random));
  crypto::NodeIdentity identity{"bench.internal", NodeId::make(clock.wall_now(), random)};
  crypto::SigningKey node_key = crypto::SigningKey::generate(random);
  crypto::Certificate node = must(authority.issue_signing(node_key.verify_key(), identity, validity, random));
  http::TlsIdentity identity_pem() const {
    return {server.pem() + authority.certificate().pem(), server_key.pem()};
  }
};

class Signer final : public wire::HelloSigner {
 public:
  explicit Signer(const World& world) : world_(world), der_(world.node.der()) {}
  Bytes sign_hello(ByteView nonce, ByteView spki) const override {
    return world_.node_key.sign(crypto::hello_statement(nonce, spki));
  }
  const crypto::SigningKey& signing_key() const override { return world_.node_key; }
  const Bytes& signing_certificate() const override { return der_; }

 private:
  const World& world_;
  Bytes der_;
};

std::unique_ptr<transport::Carrier> carrier_over(http::WebSocketRole role,
                                                 std::unique_ptr<http::Connection> connection,
                                                 const Executor& executor) {
  connection->limit_unsent();
  http::UpgradedConnection upgraded{std::move(connection), {}};
  return transport::make_websocket_carrier(role, std::move(upgraded), executor);
}

class NodeHandler final : public transport::TunnelHandler {
 public:
  explicit NodeHandler(TaskGroup& group) : group_(group) {}
  void on_control(const v1::Control&) override {}
  void on_open(transport::IncomingChannel incoming) override {
    const bool is_echo = incoming.open().interactive();
    auto channel = std::make_shared<transport::Channel>(incoming.accept());
    group_.spawn([channel, is_echo]() -> Task<void> {
      if (!is_echo) {
        const Bytes block(64 * 1024, 'x');
        while (co_await channel->send(block)) {
        }
        co_return;
      }
      for (;;) {
        auto bytes = co_await channel->receive();
        if (!bytes || !*bytes) co_return;
        if (!co_await channel->send(std::move(**bytes))) co_return;
      }
    });
  }

 private:
  TaskGroup& group_;
};

Task<void> be_node(World& world, int descriptor, TaskGroup& group) {
  const auto executor = group.executor();
  const auto tls = must(http::TlsClientContext::trusting(world.authority.certificate().pem()));
  http::TlsClientName name{"node.bench.internal", {}};
  auto connection = must(co_await http::tls_connect(descriptor, tls, std::move(name)));
  auto carrier = carrier_over(http::WebSocketRole::client, std::move(connection), executor);
  const Signer signer(world);
  wire::NodeSession::Config config;
  config.observed_spki = carrier->peer().hub_spki;
  v1::Hello hello;
  hello.set_instance_id(InstanceId::make(world.clock.wall_now(), world.random).text());
  transport::TunnelPorts ports{world.clock, world.random};
  auto dialled =
      must(co_await transport::dial_tunnel(std::move(carrier), config, signer, std::move(hello), ports));
  NodeHandler handler(group);
  co_await dialled.tunnel.run(handler);
}

class Admission final : public transport::TunnelAdmission {
 public:
  explicit Admission(World& world) : world_(world) {}
  Task<Result<v1::Welcome>> admit(const wire::HelloFacts&, const transport::CarrierPeer&) override {
    v1::Welcome welcome;
    welcome.set_session_id(SessionId::make(world_.clock.wall_now(), world_.random).text());
    co_return welcome;
  }
  void abandon(const wire::HelloFacts&, const v1::Welcome&) override {}

 private:
  World& world_;
};

class HubHandler final : public transport::TunnelHandler {
 public:
  void on_control(const v1::Control&) override {}
  void on_open(transport::IncomingChannel) override {}
};

Task<std::vector<double>> ping(transport::Channel& channel, int runs) {
  std::vector<double> micros;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    must(co_await channel.send("k"));
    must(co_await channel.receive());
    micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::sort(micros);
  co_return micros;
}

Task<void> be_hub(World& world, int descriptor, TaskGroup& group) {
  http::TlsServerContext::Settings settings{world.identity_pem(), world.identity_pem(), "node.bench.internal",
                                            world.authority.certificate().pem()};
  const auto context = must(http::TlsServerContext::make(settings));
  auto connection = must(co_await http::tls_accept(descriptor, context));
  auto carrier = carrier_over(http::WebSocketRole::server, std::move(connection), group.executor());
  wire::HubSession::Config config;
  config.deployment = "bench.internal";
  config.authorities = {world.authority.certificate()};
  Admission admission(world);
  transport::TunnelPorts ports{world.clock, world.random};
  auto accepted =
      must(co_await transport::accept_tunnel(std::move(carrier), std::move(config), admission, ports));
  HubHandler handler;
  group.spawn([&]() -> Task<void> { co_await accepted.tunnel.run(handler); });

  v1::Open open;
  open.set_interactive(true);
  auto echo = must(accepted.tunnel.open(must(wire::ChannelTarget::parse("console", "shell:local")), open));
  const auto idle = co_await ping(echo, idle_runs);
  auto bulk =
      must(accepted.tunnel.open(must(wire::ChannelTarget::parse("task", "workspace:default")), v1::Open()));
  std::size_t bytes = 0;
  group.spawn([&]() -> Task<void> {
    for (;;) {
      auto got = co_await bulk.receive();
      if (!got || !*got) co_return;
      bytes += (*got)->size();
    }
  });
  const auto start = Clock::now();
  const auto busy = co_await ping(echo, busy_runs);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto at = [](const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  std::fputs(
      fmt::format(
          R"({{"idle_p50_us": {:.0f}, "idle_p99_us": {:.0f}, "busy_p50_us": {:.0f}, "busy_p99_us": {:.0f}, )"
          R"("bulk_mib_s": {:.0f}}})"
          "\n",
          at(idle, 0.5), at(idle, 0.99), at(busy, 0.5), at(busy, 0.99),
          static_cast<double>(bytes) / seconds / (1 << 20))
          .c_str(),
      stdout);
  std::fflush(stdout);
  std::_Exit(0);
}

int listen_on_loopback(sockaddr_in& address) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof address;
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 1) != 0)
    std::exit(1);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return listener;
}

}  // namespace

int main() {
  World world;
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  const bool is_node = ::fork() == 0;
  int descriptor = -1;
  if (is_node) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  } else {
    descriptor = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  }
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  group.spawn([&]() -> Task<void> {
    if (is_node) return be_node(world, descriptor, group);
    return be_hub(world, descriptor, group);
  });
  io.run();
  std::_Exit(1);
}
