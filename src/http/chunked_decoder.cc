#include "http/chunked_decoder.h"

#include <algorithm>

namespace outhaul::http {
namespace {

// Sizes of 2^60 and more cannot be meant; refusing them also keeps the sum from overflowing.
constexpr std::uint64_t max_size_before_digit = std::uint64_t{1} << 56;

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

int digit_of(char c) {
  if ('0' <= c && c <= '9') return c - '0';
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  if ('A' <= c && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_line_text(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); }

}  // namespace

Result<ChunkedDecoder::Step> ChunkedDecoder::step(ByteView input) {
  Step step;
  while (step.consumed < input.size() && state_ != State::done) {
    if (state_ != State::data) {
      OUTHAUL_CHECK(take(input[step.consumed++]));
      continue;
    }
    const auto rest = input.size() - step.consumed;
    step.data =
        input.substr(step.consumed, static_cast<std::size_t>(std::min<std::uint64_t>(rest, remaining_)));
    step.consumed += step.data.size();
    remaining_ -= step.data.size();
    if (remaining_ == 0) state_ = State::data_end_cr;
    return step;
  }
  return step;
}

Result<void> ChunkedDecoder::take(char c) {
  switch (state_) {
    case State::size_start:
    case State::size: return take_size(c);
    case State::extension: return take_extension(c);
    case State::size_end: return expect(c, '\n', remaining_ == 0 ? State::trailer_start : State::data);
    case State::data_end_cr: return expect(c, '\r', State::data_end_lf);
    case State::data_end_lf: return expect(c, '\n', State::size_start);
    case State::trailer_start:
    case State::trailer: return take_trailer(c);
    case State::trailer_end: return expect(c, '\n', State::trailer_start);
    case State::last_end: return expect(c, '\n', State::done);
    case State::data:
    case State::done: break;
  }
  return violation("chunked body: bytes after its end");
}

Result<void> ChunkedDecoder::take_size(char c) {
  if (const int digit = digit_of(c); digit >= 0) {
    if (state_ == State::size_start) remaining_ = 0;
    if (remaining_ >= max_size_before_digit) return violation("chunked body: a chunk size out of range");
    remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
    state_ = State::size;
    return {};
  }
  if (state_ == State::size_start) return violation("chunked body: a chunk without a size");
  ignored_ = 0;
  if (c == '\r')
    state_ = State::size_end;
  else if (c == ';')
    state_ = State::extension;
  else
    return violation("chunked body: a chunk size that is not hexadecimal");
  return {};
}

Result<void> ChunkedDecoder::take_extension(char c) {
  if (c == '\r') {
    state_ = State::size_end;
    return {};
  }
  if (!is_line_text(c)) return violation("chunked body: a control character in a chunk extension");
  if (++ignored_ > max_extension_bytes) return violation("chunked body: a chunk extension over its limit");
  return {};
}

Result<void> ChunkedDecoder::take_trailer(char c) {
  if (c == '\r') {
    state_ = state_ == State::trailer_start ? State::last_end : State::trailer_end;
    return {};
  }
  if (!is_line_text(c)) return violation("chunked body: a control character in a trailer");
  if (++ignored_ > max_trailer_bytes) return violation("chunked body: trailers over their limit");
  state_ = State::trailer;
  return {};
}

Result<void> ChunkedDecoder::expect(char c, char expected, State next) {
  if (c != expected) return violation("chunked body: a line that does not end in CRLF");
  state_ = next;
  return {};
}

}  // namespace outhaul::http
