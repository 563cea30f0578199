// TlsKey: an ECDSA P-256 private key, for TLS and for the CA (browsers refuse Ed25519 certificates).
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "base/secret.h"
#include "crypto/key_handle.h"

namespace outhaul::crypto {

class TlsKey {
 public:
  static constexpr std::size_t max_pem_bytes = 4096;

  // Fails with `internal` when OpenSSL has no randomness.
  static Result<TlsKey> generate();
  // Reads an unencrypted PEM of a P-256 key. Fails with `invalid` for anything else; the message never
  // repeats a byte of `pem`.
  static Result<TlsKey> parse_pem(const Secret& pem);

  // PKCS #8, as a TLS context loads it.
  Secret pem() const;
  // DER of the SubjectPublicKeyInfo.
  Bytes spki() const;
  // For the files of this folder that sign certificates and requests.
  evp_pkey_st* native() const { return key_.get(); }

 private:
  explicit TlsKey(KeyHandle key) : key_(std::move(key)) {}
  KeyHandle key_;
};

// The public key of a DER SPKI when it is P-256 on its named curve; empty for everything else.
KeyHandle parse_p256_spki(ByteView der);

}  // namespace outhaul::crypto
