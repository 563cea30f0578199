// Certificate: one parsed X.509 certificate as a plain value: its bytes and the facts that Outhaul
// decides by. Parsing proves nothing about who issued it; verify_certificate does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace outhaul::crypto {

// What a certificate may be used for; it says so itself, in its extended key usage.
enum class CertificateUse {
  tls_server,
  tls_client,
  signing,  // the holder's Ed25519 key signs documents (RFC 9336)
};
std::string_view name_of(CertificateUse use);

class Certificate {
 public:
  static constexpr std::size_t max_der_bytes = 16384;

  // All three fail with `certificate_invalid`; no message repeats a byte of the input. Text or bytes after
  // the certificate are a fault and not ignored.
  static Result<Certificate> parse_der(ByteView der);
  static Result<Certificate> parse_pem(ByteView pem);
  // 1..max_bundle certificates.
  static constexpr std::size_t max_bundle = 8;
  static Result<std::vector<Certificate>> parse_pem_bundle(ByteView pem);

  const Bytes& der() const { return der_; }
  std::string pem() const;
  // DER of the SubjectPublicKeyInfo.
  const Bytes& spki() const { return spki_; }
  // The raw 32 bytes of an Ed25519 key; empty for any other kind of key.
  const Bytes& ed25519_key() const { return ed25519_key_; }
  // The one URI of the subject's alternative names; empty when there is none or more than one.
  const std::string& uri() const { return uri_; }
  // Lower-case hex, without a leading "0x".
  const std::string& serial() const { return serial_; }
  WallTime not_before() const { return not_before_; }
  WallTime not_after() const { return not_after_; }
  bool is_expired_at(WallTime now) const { return now > not_after_; }
  bool is_authority() const { return is_authority_; }
  bool is_for(CertificateUse use) const;
  bool operator==(const Certificate& other) const { return der_ == other.der_; }

 private:
  friend class CertificateReader;
  Certificate() = default;
  Bytes der_;
  Bytes spki_;
  Bytes ed25519_key_;
  std::string uri_;
  std::string serial_;
  WallTime not_before_;
  WallTime not_after_;
  bool is_authority_ = false;
  std::vector<CertificateUse> uses_;
};

// Holds when one of `authorities` issued `certificate`, it is for `use`, and both are valid at `now`.
//   now     the caller's time; the system's clock is never read
//   errors  certificate_invalid, with detail "reason": expired, not_yet_valid, untrusted or use
Result<void> verify_certificate(const Certificate& certificate, std::span<const Certificate> authorities,
                                CertificateUse use, WallTime now);

}  // namespace outhaul::crypto
