#include "http/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/within.h"
#include "http/plain_connection.h"
#include "http/served_connection.h"
#include "http/tls_connection.h"

namespace outhaul::http {
namespace {

constexpr Duration sweep_interval = std::chrono::seconds(1);

// Counts a handshake for as long as its coroutine lives.
class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::size_t& count_;
};

}  // namespace

Server::Server(const Ports& ports, const Router& router, const TlsServerContext* tls, ServerLimits limits)
    : ports_(ports),
      router_(router),
      tls_(tls),
      limits_(limits),
      changed_(ports.executor),
      group_(ports.executor) {}

Server::~Server() = default;

Result<ListenAddress> Server::listen(const ListenAddress& address) {
  OUTHAUL_TRY(opened, Listener::open(ports_.executor, ports_.clock, address));
  listeners_.push_back(std::move(opened));
  const auto listener = std::prev(listeners_.end());
  group_.spawn([this, listener] { return accept_all(listener); });
  return listener->address();
}

Task<void> Server::accept_all(std::list<Listener>::iterator listener) {
  for (;;) {
    const auto descriptor = co_await listener->accept();
    if (!descriptor) co_return;
    if (connection_count() >= limits_.max_connections) {
      ::close(*descriptor);
      continue;
    }
    group_.spawn([this, accepted = *descriptor] { return serve_descriptor(accepted); });
  }
}

Task<void> Server::serve_descriptor(int descriptor) {
  if (tls_ == nullptr) {
    co_await serve_requests(make_plain_connection(ports_.executor, descriptor));
    co_return;
  }
  std::optional<Result<std::unique_ptr<Connection>>> shaken;
  {
    const Counted counted(handshakes_);
    const TimePoint deadline = ports_.clock.now() + limits_.handshake;
    shaken = co_await within(ports_.clock, deadline, tls_accept(descriptor, *tls_));
  }
  changed_.pulse();
  if (!shaken) co_return;
  if (!*shaken) {
    ports_.log.debug("tls handshake failed", {{"reason", (*shaken).error().what()}});
    co_return;
  }
  co_await serve_requests(std::move(**shaken));
}

void Server::serve(std::unique_ptr<Connection> connection) {
  group_.spawn([this, held = std::move(connection)]() mutable { return serve_requests(std::move(held)); });
}

Task<void> Server::serve_requests(std::unique_ptr<Connection> connection) {
  if (is_draining_) co_return;
  if (!std::exchange(is_sweeping_, true)) group_.spawn([this] { return sweep(); });
  const ServedConnection::Rules rules{
      .clock = ports_.clock, .router = router_, .limits = limits_, .is_draining = is_draining_};
  ServedConnection served(std::move(connection), rules);
  const auto entry = served_.insert(served_.end(), &served);
  struct Leave {
    Server& server;
    std::list<ServedConnection*>::iterator entry;
    ~Leave() { server.forget(entry); }
  } const leave{*this, entry};
  co_await served.run();
}

void Server::forget(std::list<ServedConnection*>::iterator served) {
  served_.erase(served);
  changed_.pulse();
}

// One sweep a second costs less than a timer for each connection and each of its steps.
Task<void> Server::sweep() {
  for (;;) {
    co_await ports_.clock.sleep_for(sweep_interval);
    const TimePoint now = ports_.clock.now();
    for (auto* served : served_) served->kill_if_past(now);
  }
}

Task<void> Server::drain(Duration limit) {
  is_draining_ = true;
  for (auto& listener : listeners_) listener.close();
  for (auto* served : served_) {
    if (served->is_idle()) served->kill();
  }
  const TimePoint deadline = ports_.clock.now() + limit;
  while (connection_count() > 0 && ports_.clock.now() < deadline) {
    static_cast<void>(co_await within(ports_.clock, deadline, changed_.wait_pulse()));
  }
  for (auto* served : served_) served->kill();
  while (!served_.empty()) co_await changed_.wait_pulse();
}

Task<void> Server::close() {
  for (auto& listener : listeners_) listener.close();
  group_.cancel();
  co_await group_.join();
}

}  // namespace outhaul::http
