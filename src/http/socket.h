// Socket: owns one non-blocking stream descriptor and waits for it on one strand. What plain and TLS
// connections have in common.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::http {

class Socket {
 public:
  // Takes ownership of `descriptor` (a connected stream socket, of any family); turns Nagle's delay off.
  Socket(const Executor& executor, int descriptor);

  // Throw operation_aborted when the coroutine is cancelled; `unavailable` when the socket was closed.
  Task<Result<void>> wait_readable();
  Task<Result<void>> wait_writable();
  int native() const { return native_; }
  bool is_open() const { return native_ >= 0; }
  // Sends what end-of-stream can be sent, then closes. Every wait ends.
  void close();
  // Gives the descriptor away: the socket is closed to us, not to its peer. Every wait ends.
  int release();
  // As Connection::limit_unsent.
  void limit_unsent();

 private:
  Task<Result<void>> wait(asio::posix::stream_descriptor::wait_type type);
  asio::posix::stream_descriptor descriptor_;
  int native_;
};

// "192.0.2.7:51234", "[::1]:443"; "local" for anything that is no IP socket.
std::string peer_address(int descriptor);

}  // namespace outhaul::http
