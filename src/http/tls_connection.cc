#include "http/tls_connection.h"

#include <arpa/inet.h>

#include <array>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/assert.h"
#include "crypto/fingerprint.h"
#include "http/kill_unless_done.h"
#include "http/openssl.h"
#include "http/socket.h"
#include "http/write_pieces.h"

namespace outhaul::http {
namespace {

// What one OpenSSL call left to do.
enum class Next { done, wait_readable, wait_writable, ended, failed };

Next next_after(SSL* ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_NONE: return Next::done;
    case SSL_ERROR_WANT_READ: return Next::wait_readable;
    case SSL_ERROR_WANT_WRITE: return Next::wait_writable;
    case SSL_ERROR_ZERO_RETURN: return Next::ended;
    default: return Next::failed;
  }
}

// The failure of the call just made: an empty queue means that the socket broke, not TLS.
Error take_failure() {
  const auto code = ERR_peek_error();
  const bool peer_vanished = code == 0 || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  const auto reason = take_openssl_reason();
  if (peer_vanished) return {ErrorCode::unavailable, "tls: the peer left without a word"};
  return {ErrorCode::protocol_violation, "tls: " + reason};
}

class TlsConnection final : public Connection {
 public:
  TlsConnection(const Executor& executor, int descriptor, SSL_CTX* context)
      : socket_(executor, descriptor), port_(descriptor), ssl_(SSL_new(context)) {
    OUTHAUL_ASSERT(ssl_ != nullptr);
    auto* bio = make_socket_bio(port_).release();
    SSL_set_bio(ssl_.get(), bio, bio);
    peer_.address = peer_address(descriptor);
  }

  Task<Result<void>> handshake();
  Task<Result<std::size_t>> read_some(std::span<char> into) override;
  Task<Result<void>> write_all(ByteView first, ByteView second, ByteView third) override {
    return write(WritePieces(first, second, third));
  }
  Task<Result<void>> write_many(std::span<const ByteView> pieces) override {
    return write(WritePieces(pieces));
  }
  void close() override;
  void kill() override {
    port_.detach();
    socket_.close();
  }
  bool is_open() const override { return socket_.is_open(); }
  const PeerFacts& peer() const override { return peer_; }
  Bytes resumption() const override;
  void limit_unsent() override { socket_.limit_unsent(); }

  SSL* ssl() const { return ssl_.get(); }
  PeerFacts& facts() { return peer_; }

 private:
  Next try_read(std::span<char> into, std::size_t& count);
  Task<Result<void>> write(WritePieces pieces);
  Next try_write(WritePieces& pieces);
  Next try_flush();
  Task<Result<void>> wait(Next next);

  Socket socket_;
  SocketBioPort port_;
  SslHandle ssl_;
  PeerFacts peer_;
};

Task<Result<void>> TlsConnection::wait(Next next) {
  if (next == Next::wait_readable) return socket_.wait_readable();
  return socket_.wait_writable();
}

Task<Result<void>> TlsConnection::handshake() {
  for (;;) {
    ERR_clear_error();
    const Next next = next_after(ssl_.get(), SSL_do_handshake(ssl_.get()));
    if (next == Next::done) co_return Result<void>();
    if (next == Next::failed || next == Next::ended) co_return fail(take_failure());
    OUTHAUL_CO_CHECK(co_await wait(next));
  }
}

// What OpenSSL has written goes to the system.
Next TlsConnection::try_flush() {
  switch (port_.flush()) {
    case SocketBioPort::Flushed::all: return Next::done;
    case SocketBioPort::Flushed::would_block: return Next::wait_writable;
    case SocketBioPort::Flushed::broken: return Next::failed;
  }
  return Next::failed;
}

// Takes records as long as there are some that need no further system call.
Next TlsConnection::try_read(std::span<char> into, std::size_t& count) {
  while (count < into.size()) {
    std::size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), into.data() + count, into.size() - count, &got);
    // A failure after some bytes comes back at the next call, when there are none before it.
    if (result != 1) return count > 0 ? Next::done : next_after(ssl_.get(), result);
    count += got;
    if (SSL_has_pending(ssl_.get()) == 0) break;
  }
  return Next::done;
}

Task<Result<std::size_t>> TlsConnection::read_some(std::span<char> into) {
  std::size_t count = 0;
  for (;;) {
    const Next next = try_read(into, count);
    if (next == Next::done) co_return count;
    if (next == Next::ended) co_return std::size_t{0};
    if (next == Next::failed) co_return fail(take_failure());
    OUTHAUL_CO_CHECK(co_await wait(next));
  }
}

Next TlsConnection::try_write(WritePieces& pieces) {
  WritePieces::Scratch scratch;  // NOLINT(cppcoreguidelines-pro-type-member-init): 16 KiB that need no zeros
  while (!pieces.is_empty()) {
    const ByteView record = pieces.next_record(scratch);
    std::size_t written = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &written);
    if (result != 1) return next_after(ssl_.get(), result);
    pieces.consume(written);
  }
  return try_flush();
}

Task<Result<void>> TlsConnection::write(WritePieces pieces) {
  KillUnlessDone guard(*this);
  for (;;) {
    const Next next = try_write(pieces);
    if (next == Next::done) break;
    if (next == Next::failed || next == Next::ended) co_return fail(take_failure());
    OUTHAUL_CO_CHECK(co_await wait(next));
  }
  guard.done();
  co_return Result<void>();
}

void TlsConnection::close() {
  if (!socket_.is_open()) return;
  ERR_clear_error();
  // Fails inside an unfinished handshake or write; the socket's own end must do then.
  static_cast<void>(SSL_shutdown(ssl_.get()));
  ERR_clear_error();
  kill();
}

Bytes TlsConnection::resumption() const {
  const SslSessionHandle session(SSL_get1_session(ssl_.get()));
  if (session == nullptr || SSL_SESSION_is_resumable(session.get()) != 1) return {};
  const int size = i2d_SSL_SESSION(session.get(), nullptr);
  if (size <= 0) return {};
  Bytes bytes(static_cast<std::size_t>(size), '\0');
  auto* at = reinterpret_cast<unsigned char*>(bytes.data());
  i2d_SSL_SESSION(session.get(), &at);
  return bytes;
}

void note_client(SSL* ssl, PeerFacts& facts) {
  const auto* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return;
  switch (SSL_get_verify_result(ssl)) {
    case X509_V_OK: facts.certificate_verdict = CertificateVerdict::valid; break;
    case X509_V_ERR_CERT_HAS_EXPIRED: facts.certificate_verdict = CertificateVerdict::expired; break;
    default: facts.certificate_verdict = CertificateVerdict::foreign; return;
  }
  facts.certificate_der = certificate_der(certificate);
}

void note_server(SSL* ssl, PeerFacts& facts) {
  facts.certificate_verdict = CertificateVerdict::valid;
  const auto* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return;
  facts.certificate_der = certificate_der(certificate);
  facts.server_spki_der = certificate_spki(certificate);
  auto* chain = SSL_get0_verified_chain(ssl);
  if (chain == nullptr || sk_X509_num(chain) == 0) return;
  facts.server_ca_pem = certificate_pem(sk_X509_value(chain, sk_X509_num(chain) - 1));
}

// Fingerprint of the CA at the end of the chain that the server showed, for a person to compare. Not
// believed.
std::string shown_authority(SSL* ssl) {
  auto* chain = SSL_get_peer_cert_chain(ssl);
  if (chain == nullptr || sk_X509_num(chain) == 0) return {};
  const auto* last = sk_X509_value(chain, sk_X509_num(chain) - 1);
  return crypto::Fingerprint::of_spki(certificate_spki(last)).text();
}

// A handshake that the client broke off because of whom it met.
Error explain_server(SSL* ssl, Error failure) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_OK) return failure;
  if (verdict == X509_V_ERR_APPLICATION_VERIFICATION) {
    Error error(ErrorCode::ca_fingerprint_mismatch,
                "tls: no CA with the given fingerprint in the hub's chain");
    const auto shown = shown_authority(ssl);
    return shown.empty() ? error : std::move(error).with("shown", shown);
  }
  return {ErrorCode::certificate_invalid,
          std::string("tls: the hub's certificate: ") + X509_verify_cert_error_string(verdict)};
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, name.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored.data()) == 1;
}

Result<void> expect_server(SSL* ssl, const TlsClientName& name) {
  SSL_set_connect_state(ssl);
  bool is_set = false;
  if (is_address(name.server_name)) {
    // RFC 6066 allows no addresses as SNI.
    is_set = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.server_name.c_str()) == 1;
  } else {
    is_set = SSL_set_tlsext_host_name(ssl, name.server_name.c_str()) == 1 &&
             SSL_set1_host(ssl, name.server_name.c_str()) == 1;
  }
  if (!is_set || name.server_name.empty()) return fail(ErrorCode::invalid, "tls: no such server name");
  if (name.resumption.empty()) return {};
  const auto* bytes = reinterpret_cast<const unsigned char*>(name.resumption.data());
  // Bytes that do not parse only cost a full handshake.
  const SslSessionHandle session(d2i_SSL_SESSION(nullptr, &bytes, static_cast<long>(name.resumption.size())));
  if (session != nullptr) SSL_set_session(ssl, session.get());
  ERR_clear_error();
  return {};
}

}  // namespace

Task<Result<std::unique_ptr<Connection>>> tls_accept(int descriptor, const TlsServerContext& context) {
  const Executor executor = co_await asio::this_coro::executor;
  auto connection = std::make_unique<TlsConnection>(executor, descriptor, context.native());
  SSL* ssl = connection->ssl();
  SSL_set_accept_state(ssl);
  OUTHAUL_CO_CHECK(co_await connection->handshake());
  auto& facts = connection->facts();
  facts.is_node_side = context.is_node_side(SSL_get_SSL_CTX(ssl));
  if (const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) facts.server_name = name;
  facts.server_spki_der = certificate_spki(SSL_get_certificate(ssl));
  note_client(ssl, facts);
  co_return std::unique_ptr<Connection>(std::move(connection));
}

Task<Result<std::unique_ptr<Connection>>> tls_connect(int descriptor, const TlsClientContext& context,
                                                      TlsClientName name) {
  const Executor executor = co_await asio::this_coro::executor;
  auto connection = std::make_unique<TlsConnection>(executor, descriptor, context.native());
  SSL* ssl = connection->ssl();
  OUTHAUL_CO_CHECK(expect_server(ssl, name));
  auto shaken = co_await connection->handshake();
  if (!shaken) co_return fail(explain_server(ssl, std::move(shaken).error()));
  auto& facts = connection->facts();
  facts.server_name = name.server_name;
  note_server(ssl, facts);
  co_return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace outhaul::http
