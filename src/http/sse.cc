#include "http/sse.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <charconv>

#include "base/assert.h"

namespace outhaul::http {
namespace {

constexpr std::size_t max_id_digits = 19;

bool is_one_line(std::string_view text) { return text.find_first_of("\r\n") == text.npos; }

void append_field(Bytes& bytes, std::string_view name, std::string_view value) {
  bytes.append(name).append(": ").append(value).append("\n");
}

}  // namespace

Bytes format_event(const ServerSentEvent& event) {
  OUTHAUL_ASSERT(is_one_line(event.id) && is_one_line(event.event));
  Bytes bytes;
  if (!event.id.empty()) append_field(bytes, "id", event.id);
  if (!event.event.empty()) append_field(bytes, "event", event.event);
  std::string_view data = event.data;
  for (;;) {
    // A lone CR ends a line too, for the reader at the other end.
    const auto end = data.find_first_of("\r\n");
    append_field(bytes, "data", data.substr(0, end));
    if (end == data.npos) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  return bytes.append("\n");
}

Result<std::optional<std::uint64_t>> parse_last_event_id(const Headers& headers) {
  const auto text = headers.find("Last-Event-ID");
  if (!text) return std::nullopt;
  const bool is_number = !text->empty() && text->size() <= max_id_digits &&
                         std::ranges::all_of(*text, [](char c) { return '0' <= c && c <= '9'; });
  if (!is_number) return fail(ErrorCode::invalid, "Last-Event-ID: not the id of an event of this stream");
  std::uint64_t id = 0;
  std::from_chars(text->data(), text->data() + text->size(), id);
  return id;
}

Task<Result<std::unique_ptr<EventWriter>>> EventWriter::start(RequestContext& context, AsyncClock& clock) {
  Response head;
  head.headers.add("Content-Type", "text/event-stream");
  head.headers.add("Cache-Control", "no-store");
  head.headers.add("X-Accel-Buffering", "no");
  OUTHAUL_CO_TRY(writer, co_await context.start_response(std::move(head)));
  const Executor executor = co_await asio::this_coro::executor;
  co_return std::make_unique<EventWriter>(*writer, clock, executor);
}

EventWriter::EventWriter(ResponseWriter& writer, AsyncClock& clock, const Executor& executor)
    : writer_(writer), clock_(clock), turn_(executor), last_write_(clock.now()) {}

Task<Result<void>> EventWriter::send(ServerSentEvent event) { return write(format_event(event)); }

Task<Result<void>> EventWriter::write(Bytes bytes) {
  const auto turn = co_await turn_.take();
  last_write_ = clock_.now();
  co_return co_await writer_.write(bytes);
}

Task<void> EventWriter::keep_alive() {
  for (;;) {
    const TimePoint due = last_write_ + comment_interval;
    if (clock_.now() < due) {
      co_await clock_.sleep_until(due);
      continue;
    }
    const auto written = co_await write(": keep-alive\n\n");
    if (!written) co_return;
  }
}

Task<Result<void>> EventWriter::finish() {
  const auto turn = co_await turn_.take();
  co_return co_await writer_.finish();
}

}  // namespace outhaul::http
