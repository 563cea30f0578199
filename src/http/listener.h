// Listener: one listening socket. Out of descriptors, it accepts and closes with a reserved one, so that
// clients see an end and not a hang, and waits a moment before it goes on.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>

#include "base/async_clock.h"
#include "base/error.h"
#include "base/task.h"
#include "http/uri.h"

namespace outhaul::http {

class Listener {
 public:
  static constexpr int backlog = 4096;

  // Port 0 takes any free one; address() tells which. "[::]" takes IPv4 too.
  //   errors  conflict: the address is in use. denied: the port needs privilege. invalid: no such address
  static Result<Listener> open(const Executor& executor, AsyncClock& clock, const ListenAddress& address);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  // The next connection: a non-blocking descriptor that the caller owns. Fails with `unavailable` once
  // closed.
  Task<Result<int>> accept();
  void close();
  const ListenAddress& address() const { return address_; }

 private:
  Listener(const Executor& executor, AsyncClock& clock, int descriptor, ListenAddress address);
  Task<void> refuse_one();
  asio::posix::stream_descriptor descriptor_;
  AsyncClock& clock_;
  ListenAddress address_;
  int reserved_;
};

}  // namespace outhaul::http
