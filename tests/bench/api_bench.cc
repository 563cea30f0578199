// A client of the HTTPS interface that measures tasks, for scripts/bench.
//   api_bench URL CA_FINGERPRINT TOKEN_FILE latency RUNS PROGRAM
//   api_bench URL CA_FINGERPRINT TOKEN_FILE rate IN_FLIGHT TOTAL PROGRAM
//   api_bench URL CA_FINGERPRINT TOKEN_FILE accept IN_FLIGHT TOTAL PROGRAM     for a node that does not
//   exist: accepted, and no more
// Each connection is opened before the clock starts and carries one task at a time. Prints one JSON line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/event.h"
#include "base/system_clock.h"
#include "base/task_group.h"
#include "http/client.h"

namespace {

using namespace outhaul;
using Clock = std::chrono::steady_clock;

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double own_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

[[noreturn]] void give_up(std::string_view what) {
  std::fputs(fmt::format("api_bench: {}\n", what).c_str(), stderr);
  std::exit(1);
}

class Bench {
 public:
  Bench(std::string url, std::string fingerprint, std::string token, std::string program)
      : token_(std::move(token)), body_(fmt::format(R"({{"argv":["{}"]}})", program)) {
    auto pin = crypto::Fingerprint::parse(fingerprint);
    if (!pin) give_up("bad fingerprint");
    auto tls = http::TlsClientContext::pinning(*pin);
    if (!tls) give_up("no TLS context");
    tls_ = std::make_unique<http::TlsClientContext>(std::move(*tls));
    auto parsed = http::parse_url(url);
    if (!parsed) give_up("bad URL");
    settings_.url = *parsed;
  }

  // Tasks are only accepted: they wait for a pool that no node is in.
  void accept_only() {
    body_.back() = ',';
    body_ += R"("selector":{"pool":"nobody"}})";
    target_ = "/api/v1/tasks";
    outcome_ = R"("queued")";
  }

  void latency(int runs) {
    run([this, runs]() -> Task<void> {
      http::Client client(clock_, tls_.get(), settings_);
      co_await one(client);
      for (int i = 0; i < runs; ++i) {
        const auto start = Clock::now();
        co_await one(client);
        latencies_.push_back(micros_since(start));
      }
    });
    print(0, 0);
  }

  void rate(int in_flight, int total) {
    left_ = total;
    int ready = 0;
    Event go(io_.get_executor());
    Clock::time_point start;
    double cpu = 0;
    run([&]() -> Task<void> {
      for (int i = 0; i < in_flight; ++i) {
        group_.spawn([&]() -> Task<void> {
          http::Client client(clock_, tls_.get(), settings_);
          co_await one(client);
          if (++ready == in_flight) {
            start = Clock::now();
            cpu = own_cpu_seconds();
            go.set();
          }
          co_await go.wait();
          while (left_ > 0) {
            --left_;
            const auto begun = Clock::now();
            co_await one(client);
            latencies_.push_back(micros_since(begun));
          }
        });
      }
      co_return;
    });
    print(total / (micros_since(start) / 1e6), (own_cpu_seconds() - cpu) / total * 1e6);
  }

 private:
  template <class Body>
  void run(Body body) {
    group_.spawn(std::move(body));
    asio::co_spawn(io_, group_.join(), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
    io_.run();
  }

  Task<void> one(http::Client& client) {
    http::ClientRequest request;
    request.method = http::Method::post;
    request.target = target_;
    request.headers.add("Authorization", "Bearer " + token_);
    request.headers.add("Content-Type", "application/json");
    request.body = body_;
    const auto response = co_await client.call(std::move(request));
    if (!response) give_up(response.error().what());
    if (response->body.find(outcome_) == std::string::npos)
      give_up("the task is not " + outcome_ + ": " + response->body);
  }

  void print(double rate, double client_cpu_us) {
    std::ranges::sort(latencies_);
    const auto at = [this](double part) {
      return latencies_[static_cast<std::size_t>(part * static_cast<double>(latencies_.size() - 1))];
    };
    std::fputs(
        fmt::format(R"({{"p50_us": {:.0f}, "p99_us": {:.0f}, "rate": {:.1f}, "client_cpu_us": {:.0f}}})"
                    "\n",
                    at(0.5), at(0.99), rate, client_cpu_us)
            .c_str(),
        stdout);
  }

  asio::io_context io_{1};
  SystemClock clock_;
  TaskGroup group_{io_.get_executor()};
  std::string token_;
  std::string body_;
  std::string target_ = "/api/v1/tasks?wait=30s";
  std::string outcome_ = R"("finished")";
  std::unique_ptr<http::TlsClientContext> tls_;
  http::Client::Settings settings_;
  std::vector<double> latencies_;
  int left_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 6) return 2;
  std::ifstream file(words[2]);
  std::string token;
  std::getline(file, token);
  Bench bench(words[0], words[1], token, words.back());
  if (words[3] == "latency") {
    bench.latency(std::atoi(words[4].c_str()));
  } else {
    if (words[3] == "accept") bench.accept_only();
    bench.rate(std::atoi(words[4].c_str()), std::atoi(words[5].c_str()));
  }
  return 0;
}
