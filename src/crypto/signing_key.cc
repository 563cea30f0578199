#include "crypto/signing_key.h"

#include <utility>

#include "base/assert.h"
#include "crypto/openssl_handle.h"
#include "crypto/private_key_pem.h"

namespace outhaul::crypto {
namespace {

constexpr std::size_t ed25519_private_bytes = 32;

Bytes raw_public_key(const EVP_PKEY& key) {
  Bytes raw(ed25519_public_bytes, '\0');
  std::size_t size = raw.size();
  OUTHAUL_ASSERT(EVP_PKEY_get_raw_public_key(&key, as_octets(raw), &size) == 1 && size == raw.size());
  return raw;
}

}  // namespace

VerifyKey::VerifyKey(KeyHandle key, Bytes public_key)
    : key_(std::move(key)), public_key_(std::move(public_key)) {}

Result<VerifyKey> VerifyKey::parse(ByteView public_key) {
  const ErrorQueueGuard guard;
  if (public_key.size() != ed25519_public_bytes) return fail(ErrorCode::invalid, "public key: not 32 bytes");
  KeyHandle key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, as_octets(public_key), public_key.size()));
  if (!key) return fail(ErrorCode::invalid, "public key: no Ed25519 key");
  return VerifyKey(std::move(key), Bytes(public_key));
}

bool VerifyKey::verify(ByteView message, ByteView signature) const {
  const ErrorQueueGuard guard;
  if (signature.size() != ed25519_signature_bytes) return false;
  const DigestContext context(EVP_MD_CTX_new());
  OUTHAUL_ASSERT(context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  return EVP_DigestVerify(context.get(), as_octets(signature), signature.size(), as_octets(message),
                          message.size()) == 1;
}

SigningKey::SigningKey(KeyHandle key) : key_(std::move(key)), public_key_(raw_public_key(*key_)) {}

SigningKey SigningKey::generate(Random& random) {
  Bytes seed = random.bytes(ed25519_private_bytes);
  KeyHandle key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, as_octets(seed), seed.size()));
  OPENSSL_cleanse(seed.data(), seed.size());
  OUTHAUL_ASSERT(key);
  return SigningKey(std::move(key));
}

Result<SigningKey> SigningKey::parse_pem(const Secret& pem) {
  auto key = read_private_key(pem, max_pem_bytes);
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    return fail(ErrorCode::invalid, "signing key: no unencrypted Ed25519 private key in PEM form");
  }
  return SigningKey(std::move(key));
}

Secret SigningKey::pem() const { return write_private_key(*key_); }

Bytes SigningKey::sign(ByteView message) const {
  const DigestContext context(EVP_MD_CTX_new());
  OUTHAUL_ASSERT(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  Bytes signature(ed25519_signature_bytes, '\0');
  std::size_t size = signature.size();
  OUTHAUL_ASSERT(
      EVP_DigestSign(context.get(), as_octets(signature), &size, as_octets(message), message.size()) == 1);
  OUTHAUL_ASSERT(size == signature.size());
  return signature;
}

VerifyKey SigningKey::verify_key() const {
  auto key = VerifyKey::parse(public_key_);
  OUTHAUL_ASSERT(key.has_value());
  return std::move(*key);
}

}  // namespace outhaul::crypto
