// RequestContext: everything a handler has of one request, and its only way to answer.
// Lives from the request's head until its handler ends; runs on the server's strand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "http/body_reader.h"
#include "http/connection.h"
#include "http/message.h"

namespace outhaul::http {

// A streamed answer. Back-pressure: write() completes when the kernel has the bytes, so a slow client holds
// up its own handler and nobody else.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  // Sends one chunk; empty views send nothing. Fails with `unavailable` once the client has left.
  virtual Task<Result<void>> write(ByteView first, ByteView second = {}) = 0;
  // The same for any number of views, as one chunk.
  virtual Task<Result<void>> write_many(std::span<const ByteView> pieces) = 0;
  // Ends the body, so that the client can tell a whole answer from a broken one. A writer that is dropped
  // without finish() makes the server cut the connection.
  virtual Task<Result<void>> finish() = 0;
};

// A connection that has left HTTP (101), with bytes of the new protocol that came with the request.
struct UpgradedConnection {
  std::unique_ptr<Connection> connection;
  Bytes already_read;
};

class RequestContext {
 public:
  static constexpr std::size_t default_body_bytes = std::size_t{1} << 20;

  virtual ~RequestContext() = default;
  virtual const Request& request() const = 0;
  virtual const PeerFacts& peer() const = 0;

  // Decoded value of "{name}" in the route's pattern. Asking for one that the pattern lacks is a broken
  // promise.
  const std::string& path_value(std::string_view name) const;
  void set_path_values(std::map<std::string, std::string, std::less<>> values) {
    path_values_ = std::move(values);
  }

  // The whole body; call once. too_large (413) when it is longer than `max_bytes`.
  virtual Task<Result<Bytes>> read_body(std::size_t max_bytes = default_body_bytes) = 0;
  // The body as a stream, without a limit of its own.
  virtual BodyReader& body() = 0;

  // Answers with a whole response; exactly one of respond(), start_response() and upgrade() is called,
  // once. A client that has left is no error: there is nobody to tell.
  virtual Task<void> respond(Response response) = 0;
  // problem+json for `error`, with Retry-After when its class is retry.
  Task<void> respond_error(Error error);
  // Sends the head of a streamed answer (`response.body` must be empty); chunked, or until close for
  // HTTP/1.0. For HEAD the writer swallows the body.
  virtual Task<Result<ResponseWriter*>> start_response(Response response) = 0;
  // Sends `head` (status 101) and hands the connection over; the server forgets it.
  virtual Task<Result<UpgradedConnection>> upgrade(Response head) = 0;

  // Completes when the client has closed or the connection broke: `op || context.client_left()`.
  // Not while the body is being read.
  virtual Task<void> client_left() = 0;
  virtual bool is_answered() const = 0;
  // This request was admitted: its connection is not closed in favour of strangers' ones.
  virtual void trust_connection() {}

 private:
  std::map<std::string, std::string, std::less<>> path_values_;
};

// The closure outlives every request; the context lives until the task ends.
using Handler = std::function<Task<void>(RequestContext&)>;

}  // namespace outhaul::http
