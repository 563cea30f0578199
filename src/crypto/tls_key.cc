#include "crypto/tls_key.h"

#include <utility>

#include "base/assert.h"
#include "crypto/openssl_handle.h"
#include "crypto/private_key_pem.h"

namespace outhaul::crypto {
namespace {

// The SPKI of every P-256 key up to its point: id-ecPublicKey, the named curve, an uncompressed point
// (RFC 5480). Comparing bytes leaves no room for curves spelt out by their parameters.
constexpr unsigned char p256_prefix[] = {0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48,
                                         0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
                                         0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
constexpr std::size_t p256_coordinate_bytes = 32;

bool has_p256_shape(ByteView spki) {
  const ByteView prefix(reinterpret_cast<const char*>(p256_prefix), sizeof p256_prefix);
  return spki.size() == prefix.size() + 2 * p256_coordinate_bytes && spki.starts_with(prefix);
}

}  // namespace

KeyHandle parse_p256_spki(ByteView der) {
  const ErrorQueueGuard guard;
  if (!has_p256_shape(der)) return nullptr;
  const unsigned char* at = as_octets(der);
  return KeyHandle(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
}

Result<TlsKey> TlsKey::generate() {
  const ErrorQueueGuard guard;
  KeyHandle key(EVP_EC_gen("P-256"));
  if (!key) return fail(ErrorCode::internal, "make a P-256 key: the cryptographic library failed");
  return TlsKey(std::move(key));
}

Result<TlsKey> TlsKey::parse_pem(const Secret& pem) {
  auto key = read_private_key(pem, max_pem_bytes);
  if (!key || !has_p256_shape(to_der(i2d_PUBKEY, key.get()))) {
    return fail(ErrorCode::invalid, "TLS key: no unencrypted P-256 private key in PEM form");
  }
  return TlsKey(std::move(key));
}

Secret TlsKey::pem() const { return write_private_key(*key_); }

Bytes TlsKey::spki() const {
  auto der = to_der(i2d_PUBKEY, key_.get());
  OUTHAUL_ASSERT(!der.empty());
  return der;
}

}  // namespace outhaul::crypto
