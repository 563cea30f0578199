#include "http/tls_context.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/assert.h"
#include "http/message.h"
#include "http/openssl.h"

namespace outhaul::http {
namespace {

// Fastest first: both ends of a tunnel have AES instructions.
constexpr const char* cipher_order =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* groups = "X25519:P-256";
constexpr unsigned char alpn_http_1_1[] = "\x08http/1.1";
constexpr unsigned alpn_size = sizeof alpn_http_1_1 - 1;
// Eight records a system call while bulk data comes in; released when the connection idles.
constexpr std::size_t read_buffer_bytes = 128 * 1024;

std::unexpected<Error> invalid(const char* what) {
  return fail(ErrorCode::certificate_invalid, std::string("tls: ") + what + ": " + take_openssl_reason());
}

TlsContextHandle make_context(const SSL_METHOD* method) {
  TlsContextHandle context(SSL_CTX_new(method));
  OUTHAUL_ASSERT(context != nullptr);
  auto* native = context.get();
  SSL_CTX_set_mode(
      native, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(native,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_read_ahead(native, 1);
  SSL_CTX_set_default_read_buffer_len(native, read_buffer_bytes);
  OUTHAUL_ASSERT(SSL_CTX_set_ciphersuites(native, cipher_order) == 1 &&
                 SSL_CTX_set1_groups_list(native, groups) == 1);
  return context;
}

BioHandle view_as_bio(ByteView bytes) {
  return BioHandle(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

using Certificates = std::vector<CertificateHandle>;
Result<Certificates> parse_chain(ByteView pem) {
  ERR_clear_error();
  const auto bio = view_as_bio(pem);
  Certificates chain;
  while (auto* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    chain.emplace_back(certificate);
  // The end of the text is an error to OpenSSL; whatever else stopped it is one to us.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!at_end || chain.empty()) return invalid("certificate chain");
  ERR_clear_error();
  return chain;
}

int no_password(char*, int, int, void*) { return 0; }

Result<void> use_identity(SSL_CTX* context, const TlsIdentity& identity) {
  OUTHAUL_TRY(chain, parse_chain(identity.chain_pem));
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) return invalid("certificate");
  SSL_CTX_clear_chain_certs(context);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return invalid("certificate chain");
  }
  const auto bio = view_as_bio(identity.key_pem.reveal_for("tls handshake"));
  const PrivateKeyHandle key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (key == nullptr) return invalid("private key");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) return invalid("private key of another certificate");
  return {};
}

Result<void> trust_only(SSL_CTX* context, const Certificates& authorities) {
  auto* store = SSL_CTX_get_cert_store(context);
  // An operator's issuing CA may be pinned without its root.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  for (const auto& authority : authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) return invalid("certificate authority");
  }
  return {};
}

// The SNI of a ClientHello; empty when absent or malformed (RFC 6066 3: one list, one entry of type 0).
std::string_view server_name_of(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) != 1) return {};
  constexpr std::size_t head_bytes = 5;  // list length, type, name length
  if (size < head_bytes || bytes[2] != TLSEXT_NAMETYPE_host_name) return {};
  const auto name_size = static_cast<std::size_t>(bytes[3] << 8 | bytes[4]);
  if (name_size != size - head_bytes) return {};
  return {reinterpret_cast<const char*>(bytes) + head_bytes, name_size};
}

int select_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                unsigned size, void*) {
  auto* selected = const_cast<unsigned char**>(out);
  const int found = SSL_select_next_proto(selected, out_size, alpn_http_1_1, alpn_size, in, size);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Everything about a client certificate is checked but only noted: the request that follows gets an answer
// that says what is wrong, and a node may renew what has expired.
int note_expiry(int is_ok, X509_STORE_CTX* store) {
  return is_ok == 1 || X509_STORE_CTX_get_error(store) == X509_V_ERR_CERT_HAS_EXPIRED ? 1 : 0;
}
int note_client_certificate(X509_STORE_CTX* store, void*) {
  X509_STORE_CTX_set_verify_cb(store, note_expiry);
  X509_verify_cert(store);
  return 1;  // the verdict stays in the store, and so in SSL_get_verify_result
}

}  // namespace

void FreeTlsContext::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

struct TlsServerContext::Sides {
  TlsContextHandle people;
  TlsContextHandle node;
  std::string node_name;

  // Before anything of the ClientHello is acted on, so that version, resumption and certificates are all
  // decided by the right side.
  static int choose_side(SSL* ssl, int*, void* sides_address) {
    const auto& sides = *static_cast<const Sides*>(sides_address);
    if (!equals_ignoring_case(server_name_of(ssl), sides.node_name)) return SSL_CLIENT_HELLO_SUCCESS;
    SSL_set_SSL_CTX(ssl, sides.node.get());
    SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
    SSL_set_min_proto_version(ssl, TLS1_3_VERSION);
    // No resumption: a node that was removed must not come back on an old ticket.
    SSL_set_num_tickets(ssl, 0);
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  Result<TlsContextHandle> make_people(const TlsIdentity& identity);
  Result<TlsContextHandle> make_node(const TlsIdentity& identity, ByteView ca_pem) const;
};

Result<TlsContextHandle> TlsServerContext::Sides::make_people(const TlsIdentity& identity) {
  auto context = make_context(TLS_server_method());
  OUTHAUL_CHECK(use_identity(context.get(), identity));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context.get(), select_alpn, nullptr);
  SSL_CTX_set_client_hello_cb(context.get(), choose_side, this);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 1);
  constexpr unsigned char side[] = "people";
  SSL_CTX_set_session_id_context(context.get(), side, sizeof side - 1);
  return context;
}

Result<TlsContextHandle> TlsServerContext::Sides::make_node(const TlsIdentity& identity,
                                                            ByteView ca_pem) const {
  auto context = make_context(TLS_server_method());
  OUTHAUL_CHECK(use_identity(context.get(), identity));
  OUTHAUL_TRY(authorities, parse_chain(ca_pem));
  OUTHAUL_CHECK(trust_only(context.get(), authorities));
  for (const auto& authority : authorities) SSL_CTX_add_client_CA(context.get(), authority.get());
  SSL_CTX_set_cert_verify_callback(context.get(), note_client_certificate, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  constexpr unsigned char side[] = "node";
  SSL_CTX_set_session_id_context(context.get(), side, sizeof side - 1);
  return context;
}

Result<TlsServerContext> TlsServerContext::make(const Settings& settings) {
  auto sides = std::make_unique<Sides>();
  sides->node_name = settings.node_name;
  OUTHAUL_TRY(people, sides->make_people(settings.people));
  OUTHAUL_TRY(node, sides->make_node(settings.node, settings.node_ca_pem));
  sides->people = std::move(people);
  sides->node = std::move(node);
  return TlsServerContext(std::move(sides));
}

Result<void> TlsServerContext::replace_people(const TlsIdentity& identity) {
  OUTHAUL_TRY(people, sides_->make_people(identity));
  sides_->people = std::move(people);
  return {};
}

// In place: is_node_side() must know the side of handshakes that are under way. Each has its own copy of the
// certificate already.
Result<void> TlsServerContext::replace_node(const TlsIdentity& identity) {
  return use_identity(sides_->node.get(), identity);
}

ssl_ctx_st* TlsServerContext::native() const { return sides_->people.get(); }
bool TlsServerContext::is_node_side(const ssl_ctx_st* used) const { return used == sides_->node.get(); }

TlsServerContext::TlsServerContext(std::unique_ptr<Sides> sides) : sides_(std::move(sides)) {}
TlsServerContext::TlsServerContext(TlsServerContext&&) noexcept = default;
TlsServerContext& TlsServerContext::operator=(TlsServerContext&&) noexcept = default;
TlsServerContext::~TlsServerContext() = default;

struct TlsClientContext::Trust {
  TlsContextHandle context;
  std::optional<crypto::Fingerprint> pinned;

  // Makes the pinned CA of the server's own chain the only trust anchor, then verifies as usual.
  static int verify_pinned(X509_STORE_CTX* store, void* trust_address) {
    const auto& trust = *static_cast<const Trust*>(trust_address);
    auto* anchor = trust.find_pinned(X509_STORE_CTX_get0_untrusted(store));
    if (anchor == nullptr) {
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
      return 0;
    }
    auto* anchors = sk_X509_new_null();
    OUTHAUL_ASSERT(anchors != nullptr && sk_X509_push(anchors, anchor) > 0);
    X509_STORE_CTX_set0_trusted_stack(store, anchors);
    X509_STORE_CTX_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    const int result = X509_verify_cert(store);
    sk_X509_free(anchors);
    return result == 1 ? 1 : 0;
  }
  X509* find_pinned(STACK_OF(X509) * chain) const {
    for (int i = 0; i < sk_X509_num(chain); ++i) {
      auto* candidate = sk_X509_value(chain, i);
      if (X509_check_ca(candidate) != 1) continue;
      if (crypto::Fingerprint::of_spki(certificate_spki(candidate)) == *pinned) return candidate;
    }
    return nullptr;
  }
  static std::unique_ptr<Trust> make() {
    auto trust = std::make_unique<Trust>();
    trust->context = make_context(TLS_client_method());
    auto* native = trust->context.get();
    SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(native, alpn_http_1_1, alpn_size);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    return trust;
  }
};

Result<TlsClientContext> TlsClientContext::trusting(ByteView ca_pem) {
  auto trust = Trust::make();
  OUTHAUL_TRY(authorities, parse_chain(ca_pem));
  OUTHAUL_CHECK(trust_only(trust->context.get(), authorities));
  return TlsClientContext(std::move(trust));
}

Result<TlsClientContext> TlsClientContext::pinning(crypto::Fingerprint fingerprint) {
  auto trust = Trust::make();
  trust->pinned = std::move(fingerprint);
  SSL_CTX_set_cert_verify_callback(trust->context.get(), Trust::verify_pinned, trust.get());
  return TlsClientContext(std::move(trust));
}

Result<void> TlsClientContext::set_identity(const TlsIdentity& identity) {
  return use_identity(trust_->context.get(), identity);
}

ssl_ctx_st* TlsClientContext::native() const { return trust_->context.get(); }

TlsClientContext::TlsClientContext(std::unique_ptr<Trust> trust) : trust_(std::move(trust)) {}
TlsClientContext::TlsClientContext(TlsClientContext&&) noexcept = default;
TlsClientContext& TlsClientContext::operator=(TlsClientContext&&) noexcept = default;
TlsClientContext::~TlsClientContext() = default;

}  // namespace outhaul::http
