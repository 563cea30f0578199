// ChunkedDecoder: the framing of a chunked body (RFC 9112 7.1) as a pure state machine that copies nothing.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::http {

class ChunkedDecoder {
 public:
  static constexpr std::size_t max_extension_bytes = 256;  // of one chunk; ignored
  static constexpr std::size_t max_trailer_bytes = 4096;   // of all trailers; ignored

  struct Step {
    std::size_t consumed = 0;  // bytes of `input` that are done with, `data` included
    ByteView data;             // payload, a part of `input`
  };
  // Takes from the front of `input`, up to and including the first run of payload. Consumes everything
  // unless it found payload or the end of the body.
  //   errors  protocol_violation: anything but hexadecimal sizes and CRLF line ends. No call after that
  Result<Step> step(ByteView input);
  bool is_done() const { return state_ == State::done; }

 private:
  enum class State {
    size_start,
    size,
    extension,
    size_end,
    data,
    data_end_cr,
    data_end_lf,
    trailer_start,
    trailer,
    trailer_end,
    last_end,
    done
  };
  Result<void> take(char c);
  Result<void> take_size(char c);
  Result<void> take_extension(char c);
  Result<void> take_trailer(char c);
  Result<void> expect(char c, char expected, State next);

  State state_ = State::size_start;
  std::uint64_t remaining_ = 0;  // payload of the current chunk
  std::size_t ignored_ = 0;      // bytes of this extension, or of all trailers
};

}  // namespace outhaul::http
