// Ed25519: the keys that sign tasks, receipts and a node's Hello. Never used for TLS.
#pragma once

#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"

namespace outhaul::crypto {

inline constexpr std::size_t ed25519_public_bytes = 32;
inline constexpr std::size_t ed25519_signature_bytes = 64;

// The public half. verify() may be called from any thread.
class VerifyKey {
 public:
  // Takes the 32 raw bytes of RFC 8032. Fails with `invalid` for any other length and for bytes that nobody's
  // generate() gives: no point of the curve, written in another than the one legal form, or of small order.
  static Result<VerifyKey> parse(ByteView public_key);

  // False for a signature of any other length, by another key, over other bytes, or in another form than the
  // one that sign() gives.
  bool verify(ByteView message, ByteView signature) const;
  // The 32 raw bytes.
  const Bytes& public_key() const { return public_key_; }

 private:
  explicit VerifyKey(Bytes public_key) : public_key_(std::move(public_key)) {}
  Bytes public_key_;
};

// The private half. sign() may be called from any thread.
class SigningKey {
 public:
  static constexpr std::size_t max_pem_bytes = 1024;

  // Draws the 32 private bytes from `random`: the same bytes give the same key.
  static SigningKey generate(Random& random);
  // Reads an unencrypted PKCS #8 PEM as pem() writes it. Fails with `invalid` for anything else, an
  // encrypted or a non-Ed25519 key included; the message never repeats a byte of `pem`.
  static Result<SigningKey> parse_pem(const Secret& pem);

  Secret pem() const;
  // 64 bytes; the same message gives the same signature.
  Bytes sign(ByteView message) const;
  const Bytes& public_key() const { return public_key_; }
  VerifyKey verify_key() const;

 private:
  explicit SigningKey(ByteView seed);
  Bytes public_key_;
  Secret pair_;  // the seed and the public key
};

}  // namespace outhaul::crypto
