// Fingerprint: SHA-256 of a public key's SPKI, as people compare it: "sha256:" and 64 hexadecimal digits.
// It names the key and not the certificate, so a CA certificate may be renewed without a new fingerprint.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::crypto {

class Fingerprint {
 public:
  static Fingerprint of_spki(ByteView spki_der);
  // Takes exactly what text() gives; upper-case digits are allowed. Fails with `invalid`.
  static Result<Fingerprint> parse(std::string_view text);

  std::string text() const;
  // Looks at every byte, whatever the first difference.
  bool operator==(const Fingerprint& other) const;

 private:
  explicit Fingerprint(Bytes digest) : digest_(std::move(digest)) {}
  Bytes digest_;
};

}  // namespace outhaul::crypto
