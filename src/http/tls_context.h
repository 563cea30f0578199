// TLS contexts: what each side of a handshake shows and whom it believes. OpenSSL stays in the sources.
// Immutable once made, except that a server's certificates can be replaced for later handshakes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/secret.h"
#include "crypto/fingerprint.h"

struct ssl_ctx_st;

namespace outhaul::http {

struct FreeTlsContext {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContextHandle = std::unique_ptr<ssl_ctx_st, FreeTlsContext>;

// A certificate with its key. The chain starts with the leaf; a server's ends with its CA, so that a client
// that knows only the CA's fingerprint finds it there.
struct TlsIdentity {
  Bytes chain_pem;
  Secret key_pem;
};

// One port, two faces. A client that asks for `node_name` by SNI sees the node side: TLS 1.3 only, a client
// certificate is requested, and one that does not hold is noted and not refused (enrolment has none, renewal
// has an expired one): PeerFacts::certificate_verdict says which. Everybody else sees the people's side:
// TLS 1.2 or later, no certificate request, session tickets.
class TlsServerContext {
 public:
  struct Settings {
    TlsIdentity people;
    TlsIdentity node;
    std::string node_name;  // "node.<deployment>", lower case
    Bytes node_ca_pem;      // the only issuer of node certificates
  };
  // Fails with `certificate_invalid` for PEM that does not parse, or a key of another certificate.
  static Result<TlsServerContext> make(const Settings& settings);

  // For tls_accept().
  ssl_ctx_st* native() const;
  bool is_node_side(const ssl_ctx_st* used) const;
  // For later handshakes; those that stand are not touched.
  Result<void> replace_people(const TlsIdentity& identity);
  Result<void> replace_node(const TlsIdentity& identity);

  TlsServerContext(TlsServerContext&&) noexcept;
  TlsServerContext& operator=(TlsServerContext&&) noexcept;
  ~TlsServerContext();

 private:
  struct Sides;
  explicit TlsServerContext(std::unique_ptr<Sides> sides);
  // On the heap: OpenSSL's callbacks hold its address.
  std::unique_ptr<Sides> sides_;
};

class TlsClientContext {
 public:
  // Believes exactly the CAs in `ca_pem`, none of the system's.
  static Result<TlsClientContext> trusting(ByteView ca_pem);
  // Believes the CA in the server's own chain whose public key has this fingerprint: for a first contact.
  // The handshake fails with `ca_fingerprint_mismatch` when there is none; PeerFacts::server_ca_pem then
  // holds the CA, so that the next contact can be trusting().
  static Result<TlsClientContext> pinning(crypto::Fingerprint fingerprint);
  // Shown when the server asks.
  Result<void> set_identity(const TlsIdentity& identity);

  ssl_ctx_st* native() const;

  TlsClientContext(TlsClientContext&&) noexcept;
  TlsClientContext& operator=(TlsClientContext&&) noexcept;
  ~TlsClientContext();

 private:
  struct Trust;
  explicit TlsClientContext(std::unique_ptr<Trust> trust);
  std::unique_ptr<Trust> trust_;
};

}  // namespace outhaul::http
