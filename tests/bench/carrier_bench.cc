// The WebSocket carrier alone, over TLS 1.3 on loopback, between two processes:
//   carrier_bench bulk [GIB]     sends messages of 64 KiB; prints the rate and each side's CPU seconds per
//   GiB carrier_bench idle [COUNT]   opens COUNT connections through the HTTP server; prints the anonymous
//   memory of
//                                each side per connection
#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/system_clock.h"
#include "crypto/certificate_authority.h"
#include "crypto/system_random.h"
#include "http/server.h"
#include "transport/websocket_carrier.h"
#include "wire/frame.h"

namespace {

using namespace outhaul;
using transport::Carrier;

constexpr const char* node_name = "node.bench.internal";

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "carrier_bench: %s\n", result.error().what().c_str());
  std::exit(1);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  }
  return 0;
}

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

// Both processes' certificates, made before the fork.
struct Deployment {
  crypto::SystemRandom random;
  SystemClock clock;
  crypto::Validity validity{clock.wall_now(), std::chrono::hours(24)};
  crypto::CertificateAuthority authority =
      must(crypto::CertificateAuthority::make("bench", validity, random));
  crypto::TlsKey hub_key = must(crypto::TlsKey::generate());
  crypto::TlsKey node_key = must(crypto::TlsKey::generate());
  crypto::Certificate hub = must(authority.issue_server(hub_key.spki(), {{node_name}, {}}, validity, random));
  crypto::Certificate node = issue_node();

  crypto::Certificate issue_node() {
    const auto text = must(crypto::make_certificate_request(node_key, "bench"));
    const auto request = must(crypto::CertificateRequest::parse_pem(text));
    const crypto::NodeIdentity identity{"bench.internal", NodeId::make(clock.wall_now(), random)};
    return must(authority.issue_node(request, identity, validity, random));
  }
  http::TlsIdentity hub_identity() const {
    return {hub.pem() + authority.certificate().pem(), hub_key.pem()};
  }
  http::TlsServerContext server_context() const {
    return must(http::TlsServerContext::make(
        {hub_identity(), hub_identity(), node_name, authority.certificate().pem()}));
  }
  http::TlsClientContext client_context() const {
    auto context = must(http::TlsClientContext::trusting(authority.certificate().pem()));
    if (!context.set_identity({node.pem(), node_key.pem()})) std::exit(1);
    return context;
  }
};

// The hub's side: every carrier that comes in is read to its end.
class Hub {
 public:
  Hub(Deployment& deployment, std::size_t expected)
      : deployment_(deployment), tls_(deployment.server_context()), expected_(expected) {}

  http::ListenAddress listen() { return must(server_.listen({"127.0.0.1", 0})); }
  void run() {
    const double before = cpu_seconds();
    io_.run();
    const double gib = double(received_) / double(1 << 30);
    if (received_ > 0) std::printf("hub:  %.2f GiB, %.2f CPU s/GiB\n", gib, (cpu_seconds() - before) / gib);
    std::fflush(stdout);
    ::_exit(0);
  }

 private:
  Task<void> serve(http::RequestContext& context) {
    auto carrier = must(co_await transport::accept_websocket_carrier(context));
    const auto shared = std::make_shared<std::unique_ptr<Carrier>>(std::move(carrier));
    group_.spawn([this, shared] { return read_all(**shared, shared); });
  }
  Task<void> read_all(Carrier& carrier, std::shared_ptr<std::unique_ptr<Carrier>>) {
    if (++attached_ == expected_) {
      std::printf("hub:  %ld KiB anonymous, %.1f KiB a connection\n", anonymous_kib(),
                  double(anonymous_kib() - start_kib_) / double(expected_));
      std::fflush(stdout);
      static_cast<void>(co_await carrier.send("all here"));
    }
    for (;;) {
      const auto message = co_await carrier.receive();
      if (!message) break;
      received_ += message->size();
    }
    io_.stop();
  }

  Deployment& deployment_;
  NoSink sink_;
  Log log_{"bench", deployment_.clock, sink_};
  asio::io_context io_{1};
  http::TlsServerContext tls_;
  http::Router router_{{{http::Method::get, std::string(transport::tunnel_path), "tunnel",
                         [this](http::RequestContext& context) { return serve(context); }}}};
  http::Server server_{{io_.get_executor(), deployment_.clock, log_}, router_, &tls_};
  TaskGroup group_{io_.get_executor()};
  std::size_t expected_;
  std::size_t attached_ = 0;
  std::size_t received_ = 0;
  long start_kib_ = anonymous_kib();
};

Task<std::unique_ptr<Carrier>> dial(Deployment& deployment, const http::TlsClientContext& tls,
                                    std::uint16_t port) {
  http::Client::Settings settings;
  settings.url = {"127.0.0.1", port};
  settings.server_name = node_name;
  co_return must(co_await transport::dial_websocket_carrier(deployment.clock, deployment.random, tls,
                                                            std::move(settings)));
}

Task<void> send_bulk(Deployment& deployment, std::uint16_t port, std::size_t gib) {
  const auto tls = deployment.client_context();
  const auto carrier = co_await dial(deployment, tls, port);
  const Bytes message(wire::max_message_bytes, 'x');
  const double before = cpu_seconds();
  const auto start = deployment.clock.now();
  for (std::size_t sent = 0; sent < gib << 30; sent += message.size()) {
    const auto done = co_await carrier->send(message);
    if (!done) std::exit(1);
  }
  const std::chrono::duration<double> took = deployment.clock.now() - start;
  std::printf("node: %.2f CPU s/GiB; %.0f MiB/s\n", (cpu_seconds() - before) / double(gib),
              double(gib << 10) / took.count());
}

Task<void> open_idle(Deployment& deployment, std::uint16_t port, std::size_t count) {
  const auto tls = deployment.client_context();
  const long before = anonymous_kib();
  std::vector<std::unique_ptr<Carrier>> carriers;
  for (std::size_t i = 0; i < count; ++i) carriers.push_back(co_await dial(deployment, tls, port));
  const auto said = co_await carriers.back()->receive();
  std::printf("node: %.1f KiB a connection\n", double(anonymous_kib() - before) / double(count));
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_idle = argc > 1 && std::string_view(argv[1]) == "idle";
  const std::size_t amount = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : (is_idle ? 1000 : 2);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // the child may be killed at any time
  Deployment deployment;
  Hub hub(deployment, is_idle ? amount : 0);
  const auto address = hub.listen();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    asio::io_context io(1);
    TaskGroup group(io.get_executor());
    group.spawn([&] {
      return is_idle ? open_idle(deployment, address.port, amount)
                     : send_bulk(deployment, address.port, amount);
    });
    io.run();
    std::fflush(stdout);
    ::_exit(0);
  }
  hub.run();
}
