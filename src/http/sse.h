// Server-sent events over a streamed response.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/async_clock.h"
#include "http/request_context.h"
#include "http/write_turn.h"

namespace outhaul::http {

struct ServerSentEvent {
  std::string id;     // empty: none; what the client sends back as Last-Event-ID
  std::string event;  // empty: "message"
  std::string data;   // may have several lines
};

// The bytes of one event. A line end in `id` or `event` is a broken promise.
Bytes format_event(const ServerSentEvent& event);

// The Last-Event-ID header as a number, for streams that number their events from 1; empty when absent.
// `invalid` when it is anything but 1..19 digits.
Result<std::optional<std::uint64_t>> parse_last_event_id(const Headers& headers);

// Comments every 15 s tell a proxy that cuts idle connections at 60 s, and us, that both ends still live.
class EventWriter {
 public:
  static constexpr Duration comment_interval = std::chrono::seconds(15);

  // Sends the head: text/event-stream, no-store, X-Accel-Buffering: no.
  static Task<Result<std::unique_ptr<EventWriter>>> start(RequestContext& context, AsyncClock& clock);
  EventWriter(ResponseWriter& writer, AsyncClock& clock, const Executor& executor);

  // Fails with `unavailable` once the client has left.
  Task<Result<void>> send(ServerSentEvent event);
  // Runs until cancelled or the client has left: `events(writer) || writer.keep_alive()`.
  Task<void> keep_alive();
  Task<Result<void>> finish();

 private:
  Task<Result<void>> write(Bytes bytes);
  ResponseWriter& writer_;
  AsyncClock& clock_;
  WriteTurn turn_;
  TimePoint last_write_;
};

}  // namespace outhaul::http
