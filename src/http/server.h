// Server: accepts connections, speaks HTTP/1.1 on them and gives each request to the router.
// Runs on one strand. The router, clock, log and TLS context outlive it.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "base/async_clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/task_group.h"
#include "http/connection.h"
#include "http/doorway.h"
#include "http/listener.h"
#include "http/router.h"
#include "http/tls_context.h"

namespace outhaul::http {

// Deadlines are kept by one sweep a second, so each may be passed by that much.
struct ServerLimits {
  Doorway::Limits doorway;                            // before HTTP begins
  Duration first_request = std::chrono::seconds(15);  // from the handshake to the first byte of a request
  Duration head = std::chrono::seconds(15);           // from a request's first byte to the end of its head
  Duration idle = std::chrono::seconds(75);           // between requests
  Duration body_idle = std::chrono::seconds(60);      // between two pieces of a request's body
  Duration write_idle = std::chrono::seconds(60);     // a client that takes nothing for so long is cut
  std::size_t max_connections = 20'000;               // beyond it a new connection is closed at once
  std::size_t max_strangers =
      2'000;  // that no request has been admitted on; beyond it the oldest idle one is closed
  std::size_t max_head_bytes = 16 * 1024;
};

class ServedConnection;

class Server {
 public:
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    const Log& log;
  };
  // `tls` null: plain HTTP.
  Server(const Ports& ports, const Router& router, const TlsServerContext* tls, ServerLimits limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts accepting; may be called for several addresses. Gives the address with its real port.
  Result<ListenAddress> listen(const ListenAddress& address);
  // Serves a connection that stands already, until it ends.
  void serve(std::unique_ptr<Connection> connection);
  // Stops accepting, closes idle connections, lets running requests finish until `limit` has passed, then
  // cuts them. Completes when none is left. Upgraded connections are no longer the server's.
  Task<void> drain(Duration limit);
  // Cancels everything and waits for it. Call before destruction, also after drain().
  Task<void> close();
  std::size_t connection_count() const { return served_.size() + (doorway_ ? doorway_->count() : 0); }

 private:
  friend class ServedConnection;
  Task<void> accept_all(std::list<Listener>::iterator listener);
  Task<void> serve_descriptor(int descriptor);
  Task<void> serve_requests(std::unique_ptr<Connection> connection);
  void start_sweeping();
  Task<void> sweep();
  void make_room();
  void give_memory_back();
  void forget(std::list<ServedConnection*>::iterator served);

  Ports ports_;
  const Router& router_;
  ServerLimits limits_;
  std::optional<Doorway> doorway_;  // empty for plain HTTP
  std::list<Listener> listeners_;
  std::list<ServedConnection*> served_;
  std::size_t most_connections_ = 0;  // since memory was last given back
  bool is_sweeping_ = false;
  bool is_draining_ = false;
  Event changed_;  // pulsed when a connection ends
  TaskGroup group_;
};

}  // namespace outhaul::http
