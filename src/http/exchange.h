// Exchange: one request on a served connection and its answer.
#pragma once

#include <memory>
#include <optional>

#include "base/async_clock.h"
#include "http/head_parser.h"
#include "http/input_buffer.h"
#include "http/message_body.h"
#include "http/request_context.h"
#include "http/server.h"

namespace outhaul::http {

class Exchange final : public RequestContext, private BodyWatcher, private ResponseWriter {
 public:
  struct Ports {
    std::unique_ptr<Connection>& connection;  // taken by upgrade()
    InputBuffer& input;
    AsyncClock& clock;
    const ServerLimits& limits;
    const bool& is_draining;  // looked at when the head is written
    bool& is_stranger;        // of the connection
  };
  Exchange(const Ports& ports, RequestHead head);

  const Request& request() const override { return head_.request; }
  const PeerFacts& peer() const override { return ports_.connection->peer(); }
  Task<Result<Bytes>> read_body(std::size_t max_bytes) override;
  BodyReader& body() override { return body_; }
  Task<void> respond(Response response) override;
  Task<Result<ResponseWriter*>> start_response(Response response) override;
  Task<Result<UpgradedConnection>> upgrade(Response head) override;
  Task<void> client_left() override;
  bool is_answered() const override { return state_ != State::open; }
  void trust_connection() override { ports_.is_stranger = false; }

  // After the handler: what is left of the exchange, and whether another request may follow.
  enum class After { next_request, close, linger };
  Task<After> complete();

 private:
  enum class State { open, streaming, answered, broken };

  Task<Result<void>> before_read() override;
  Task<Result<void>> write(ByteView first, ByteView second) override;
  Task<Result<void>> write_many(std::span<const ByteView> pieces) override;
  Task<Result<void>> finish() override;
  Task<Result<void>> write_now(ByteView first, ByteView second = {}, ByteView third = {});
  Task<Result<void>> write_now_many(std::span<const ByteView> pieces);
  Task<bool> skip_body();
  bool can_skip_body() const;
  void decide_keep_alive();
  bool is_head_request() const { return head_.request.method == Method::head; }

  Ports ports_;
  RequestHead head_;
  MessageBody body_;
  State state_ = State::open;
  BodyKind answer_kind_ = BodyKind::none;
  bool keep_alive_;
  bool owes_continue_;
};

}  // namespace outhaul::http
