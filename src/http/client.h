// Client: HTTPS requests to one hub over one kept-alive connection. For the command line and enrolment.
// Runs on one strand; one request at a time. Nothing is retried here: only the caller knows what may be
// sent twice.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async_clock.h"
#include "http/body_reader.h"
#include "http/connection.h"
#include "http/message.h"
#include "http/tls_context.h"
#include "http/uri.h"

namespace outhaul::http {

struct ClientRequest {
  Method method = Method::get;
  std::string target;  // path and query, percent-encoded
  Headers headers;     // Host and framing are added
  Bytes body;
};

// The head of an answer and its body, still to be read. Valid until the next request.
struct ClientResponse {
  int status = 0;
  Headers headers;
  BodyReader* body = nullptr;
};

class Client {
 public:
  struct Settings {
    Url url;
    // SNI and the name in the certificate; empty: the URL's host.
    std::string server_name;
    Duration connect_limit = std::chrono::seconds(10);  // dialling and handshake
    Duration head_limit = std::chrono::seconds(60);     // from the request to the answer's head
    Bytes resumption;                                   // of an earlier Client::resumption()
  };
  // `tls` null: plain HTTP. Clock and context outlive the client.
  Client(AsyncClock& clock, const TlsClientContext* tls, Settings settings);
  // Over a connection that stands already (tests, tunnels).
  Client(AsyncClock& clock, std::unique_ptr<Connection> connection, Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects first when there is no connection. An answer of 400 or more is no failure here.
  //   errors  unavailable: no connection, or it broke; detail "sent" is "true" when the request may have
  //           reached the hub. deadline_exceeded. Those of tls_connect()
  Task<Result<ClientResponse>> request(ClientRequest request);
  // A body in pieces: start_request(), write_body()…, finish_body(), read_response(). The head is sent with
  // chunked framing. The server may answer early: read_response() may be called beside the writing.
  Task<Result<void>> start_request(ClientRequest request);
  Task<Result<void>> write_body(ByteView piece);
  Task<Result<void>> finish_body();
  Task<Result<ClientResponse>> read_response();
  // request() and the whole body, at most `max_bytes`; an answer of 400 or more becomes its Error.
  Task<Result<Response>> call(ClientRequest request, std::size_t max_bytes = std::size_t{64} << 20);

  // Upgrade: leaves the client without a connection.
  struct Upgraded {
    int status = 0;
    Headers headers;
    std::unique_ptr<Connection> connection;  // null unless the status is 101
    Bytes already_read;
  };
  Task<Result<Upgraded>> upgrade(ClientRequest request);

  Task<Result<void>> connect();
  // Facts of the connection; null when there is none.
  const PeerFacts* peer() const;
  Bytes resumption() const;
  void kill();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outhaul::http
