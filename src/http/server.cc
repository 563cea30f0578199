#include "http/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/free_memory.h"
#include "base/within.h"
#include "http/plain_connection.h"
#include "http/served_connection.h"

namespace outhaul::http {
namespace {

constexpr Duration sweep_interval = std::chrono::seconds(1);

// A crowd as large as this is worth a walk over the heap once it has gone.
constexpr std::size_t crowd = 1000;

}  // namespace

Server::Server(const Ports& ports, const Router& router, const TlsServerContext* tls, ServerLimits limits)
    : ports_(ports), router_(router), limits_(limits), changed_(ports.executor), group_(ports.executor) {
  if (tls != nullptr) doorway_.emplace(ports.executor, ports.clock, *tls, limits.doorway);
}

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
  if (!doorway_) {
    co_await serve_requests(make_plain_connection(ports_.executor, descriptor));
    co_return;
  }
  start_sweeping();
  auto greeted = co_await doorway_->greet(descriptor);
  changed_.pulse();
  if (greeted) {
    co_await serve_requests(std::move(*greeted));
  } else if (greeted.error().code() != ErrorCode::unavailable) {
    ports_.log.debug("tls handshake failed", {{"reason", greeted.error().what()}});
  }
}

void Server::serve(std::unique_ptr<Connection> connection) {
  group_.spawn([this, held = std::move(connection)]() mutable { return serve_requests(std::move(held)); });
}

Task<void> Server::serve_requests(std::unique_ptr<Connection> connection) {
  if (is_draining_) co_return;
  start_sweeping();
  make_room();
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

void Server::start_sweeping() {
  if (!std::exchange(is_sweeping_, true)) group_.spawn([this] { return sweep(); });
}

// One sweep a second costs less than a timer for each connection and each of its steps.
Task<void> Server::sweep() {
  for (;;) {
    co_await ports_.clock.sleep_for(sweep_interval);
    const TimePoint now = ports_.clock.now();
    for (auto* served : served_) served->kill_if_past(now);
    if (doorway_) doorway_->sweep(now);
    give_memory_back();
  }
}

// Those whom nobody knows must not take the room of those who do.
void Server::make_room() {
  if (served_.size() < limits_.max_strangers) return;
  const auto is_stranger = [](const auto* served) { return served->is_stranger(); };
  if (std::cmp_less(std::ranges::count_if(served_, is_stranger), limits_.max_strangers)) return;
  const auto is_idle_stranger = [](const auto* served) { return served->is_stranger() && served->is_idle(); };
  const auto oldest = std::ranges::find_if(served_, is_idle_stranger);
  if (oldest != served_.end()) (*oldest)->kill();
}

// The allocator keeps what a crowd has used unless it is asked for it.
void Server::give_memory_back() {
  most_connections_ = std::max(most_connections_, connection_count());
  if (most_connections_ < crowd || connection_count() > most_connections_ / 2) return;
  most_connections_ = connection_count();
  give_back_free_memory();
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
