#include "wire/trace_context.h"

#include <algorithm>

#include "base/bytes.h"

namespace outhaul::wire {
namespace {

// version "-" trace id "-" span id "-" flags
constexpr std::size_t version_at = 0, version_chars = 2;
constexpr std::size_t trace_at = 3, trace_chars = 32;
constexpr std::size_t span_at = 36, span_chars = 16;
constexpr std::size_t flags_at = 53, flags_chars = 2;
constexpr unsigned sampled_flag = 1;

bool is_hex_digit(char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); }
bool is_hex(std::string_view text) { return std::ranges::all_of(text, is_hex_digit); }
bool is_zero(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

unsigned hex_value(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

// All zero would be "none" to every reader of the header.
std::string draw_id(Random& random, std::size_t chars) {
  for (;;) {
    auto id = to_hex(random.bytes(chars / 2));
    if (!is_zero(id)) return id;
  }
}

}  // namespace

TraceContext TraceContext::make(Random& random, bool is_sampled) {
  auto trace_id = draw_id(random, trace_chars);
  return {std::move(trace_id), draw_id(random, span_chars), is_sampled};
}

TraceContext TraceContext::child(Random& random) const {
  return {trace_id_, draw_id(random, span_chars), is_sampled_};
}

Result<TraceContext> TraceContext::parse(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };

  if (text.size() < text_bytes) return invalid("traceparent: too short");
  const auto version = text.substr(version_at, version_chars);
  if (!is_hex(version) || version == "ff") return invalid("traceparent: version");
  // A later version may add fields after a dash; version 00 ends here.
  if (text.size() > text_bytes && (version == "00" || text[text_bytes] != '-'))
    return invalid("traceparent: too long");
  if (text[trace_at - 1] != '-' || text[span_at - 1] != '-' || text[flags_at - 1] != '-') {
    return invalid("traceparent: fields are separated by a dash");
  }
  const auto trace_id = text.substr(trace_at, trace_chars);
  const auto span_id = text.substr(span_at, span_chars);
  const auto flags = text.substr(flags_at, flags_chars);
  if (!is_hex(trace_id) || is_zero(trace_id)) return invalid("traceparent: trace id");
  if (!is_hex(span_id) || is_zero(span_id)) return invalid("traceparent: span id");
  if (!is_hex(flags)) return invalid("traceparent: flags");

  return TraceContext(std::string(trace_id), std::string(span_id), (hex_value(flags[1]) & sampled_flag) != 0);
}

std::string TraceContext::text() const {
  return "00-" + trace_id_ + "-" + span_id_ + (is_sampled_ ? "-01" : "-00");
}

}  // namespace outhaul::wire
