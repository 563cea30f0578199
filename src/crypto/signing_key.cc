#include "crypto/signing_key.h"

#include <sodium.h>

#include "base/assert.h"
#include "crypto/key_handle.h"
#include "crypto/openssl_handle.h"
#include "crypto/private_key_pem.h"

namespace outhaul::crypto {
namespace {

static_assert(ed25519_public_bytes == crypto_sign_ed25519_PUBLICKEYBYTES);
static_assert(ed25519_signature_bytes == crypto_sign_ed25519_BYTES);

// Before libsodium's first use.
void need_sodium() {
  static const bool is_ready = sodium_init() >= 0;
  OUTHAUL_ASSERT(is_ready);
}

}  // namespace

Result<VerifyKey> VerifyKey::parse(ByteView public_key) {
  need_sodium();
  if (public_key.size() != ed25519_public_bytes) return fail(ErrorCode::invalid, "public key: not 32 bytes");
  if (crypto_core_ed25519_is_valid_point(as_octets(public_key)) != 1)
    return fail(ErrorCode::invalid, "public key: no Ed25519 key");
  return VerifyKey(Bytes(public_key));
}

bool VerifyKey::verify(ByteView message, ByteView signature) const {
  if (signature.size() != ed25519_signature_bytes) return false;
  return crypto_sign_ed25519_verify_detached(as_octets(signature), as_octets(message), message.size(),
                                             as_octets(ByteView(public_key_))) == 0;
}

SigningKey::SigningKey(ByteView seed) : public_key_(ed25519_public_bytes, '\0') {
  need_sodium();
  OUTHAUL_ASSERT(seed.size() == crypto_sign_ed25519_SEEDBYTES);
  Bytes pair(crypto_sign_ed25519_SECRETKEYBYTES, '\0');
  OUTHAUL_ASSERT(crypto_sign_ed25519_seed_keypair(as_octets(public_key_), as_octets(pair), as_octets(seed)) ==
                 0);
  pair_ = Secret(std::move(pair));
}

SigningKey SigningKey::generate(Random& random) {
  const Secret seed(random.bytes(crypto_sign_ed25519_SEEDBYTES));
  return SigningKey(seed.reveal_for("make a key"));
}

Result<SigningKey> SigningKey::parse_pem(const Secret& pem) {
  const auto key = read_private_key(pem, max_pem_bytes);
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    return fail(ErrorCode::invalid, "signing key: no unencrypted Ed25519 private key in PEM form");
  }
  Bytes raw(crypto_sign_ed25519_SEEDBYTES, '\0');
  std::size_t size = raw.size();
  OUTHAUL_ASSERT(EVP_PKEY_get_raw_private_key(key.get(), as_octets(raw), &size) == 1 && size == raw.size());
  const Secret seed(std::move(raw));
  return SigningKey(seed.reveal_for("make a key"));
}

Secret SigningKey::pem() const {
  const auto seed = pair_.reveal_for("write it down").substr(0, crypto_sign_ed25519_SEEDBYTES);
  const KeyHandle key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, as_octets(seed), seed.size()));
  OUTHAUL_ASSERT(key);
  return write_private_key(*key);
}

Bytes SigningKey::sign(ByteView message) const {
  Bytes signature(ed25519_signature_bytes, '\0');
  const auto pair = pair_.reveal_for("sign");
  OUTHAUL_ASSERT(crypto_sign_ed25519_detached(as_octets(signature), nullptr, as_octets(message),
                                              message.size(), as_octets(pair)) == 0);
  return signature;
}

VerifyKey SigningKey::verify_key() const {
  auto key = VerifyKey::parse(public_key_);
  OUTHAUL_ASSERT(key.has_value());
  return std::move(*key);
}

}  // namespace outhaul::crypto
