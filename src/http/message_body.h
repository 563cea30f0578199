// MessageBody: the BodyReader of both ends, over a connection's input buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "http/body_reader.h"
#include "http/chunked_decoder.h"
#include "http/head_parser.h"
#include "http/input_buffer.h"

namespace outhaul::http {

// Told before each wait for more of a body: keeps deadlines, sends 100 Continue.
class BodyWatcher {
 public:
  virtual ~BodyWatcher() = default;
  virtual Task<Result<void>> before_read() = 0;
};

class MessageBody final : public BodyReader {
 public:
  // Connection, buffer and watcher (may be null) outlive it.
  MessageBody(Connection& connection, InputBuffer& input, BodyFraming framing, BodyWatcher* watcher);
  ~MessageBody() override { settle(); }
  MessageBody(const MessageBody&) = delete;
  MessageBody& operator=(const MessageBody&) = delete;

  Task<Result<ByteView>> read_some() override;
  // Gives up the piece handed out last: what follows it in the input belongs to whoever reads next.
  void settle() { input_.consume(std::exchange(handed_out_, 0)); }
  bool is_done() const { return is_done_; }
  // Bytes of the body still to come, where its framing says so.
  std::optional<std::uint64_t> find_remaining() const;

 private:
  // Empty: more input is needed, or the body is done.
  Result<ByteView> take_from_input();
  Task<Result<void>> fill();

  Connection& connection_;
  InputBuffer& input_;
  BodyKind kind_;
  BodyWatcher* watcher_;
  std::uint64_t remaining_;
  ChunkedDecoder chunks_;
  std::size_t handed_out_ = 0;  // bytes of the input that the last piece lies in
  bool is_done_;
};

}  // namespace outhaul::http
