// Doorway: connections from the accept to the end of their TLS handshake. Strangers cost as little as can be:
// nothing but a socket until a whole ClientHello is there, then a bounded number of handshakes at a time.
//   runs on  one strand; its coroutines are cancelled before it is destroyed
#pragma once

#include <list>
#include <memory>

#include "base/async_clock.h"
#include "base/event.h"
#include "http/socket.h"
#include "http/tls_connection.h"

namespace outhaul::http {

class Doorway {
 public:
  struct Limits {
    Duration silence = std::chrono::seconds(10);    // from the accept to a whole ClientHello
    Duration handshake = std::chrono::seconds(10);  // from there to its end
    Duration crowded = std::chrono::seconds(2);     // the same, while others wait for their turn
    std::size_t max_silent = 4096;                  // beyond it the oldest is closed
    std::size_t max_handshakes = 256;               // the newest of those that wait is the next
  };
  // `clock` and `tls` outlive it.
  Doorway(const Executor& executor, AsyncClock& clock, const TlsServerContext& tls, Limits limits);
  Doorway(const Doorway&) = delete;
  Doorway& operator=(const Doorway&) = delete;

  // Takes ownership of `descriptor`. unavailable: it was silent for too long, or left.
  Task<Result<std::unique_ptr<Connection>>> greet(int descriptor);
  // Ends what is past its deadline; to be called about once a second.
  void sweep(TimePoint now);
  std::size_t count() const { return silent_.size() + shaking_.size(); }

 private:
  struct Silent {
    Socket socket;
    TimePoint deadline;
    Event* turn = nullptr;  // while it waits for one
    void drop();
  };
  struct Shaking {
    TimePoint started;
    Event over;  // its time
  };
  class Turn;

  Task<Result<int>> hear(int descriptor);
  Task<Result<void>> hear_hello(Socket& socket);
  Task<void> await_turn(Silent& silent);
  void give_turn();

  Executor executor_;
  AsyncClock& clock_;
  const TlsServerContext& tls_;
  Limits limits_;
  std::list<Silent*> silent_;  // oldest first, as all three
  std::list<Event*> waiting_;
  std::list<Shaking*> shaking_;
};

}  // namespace outhaul::http
