#include "crypto/fingerprint.h"

#include <openssl/crypto.h>

#include <cstdint>
#include <optional>

#include "crypto/digest.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view prefix = "sha256:";

std::optional<std::uint8_t> digit_value(char c) {
  if ('0' <= c && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if ('a' <= c && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if ('A' <= c && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

Fingerprint Fingerprint::of_spki(ByteView spki_der) { return Fingerprint(sha256(spki_der)); }

Result<Fingerprint> Fingerprint::parse(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  if (!text.starts_with(prefix)) return invalid("fingerprint: does not start with sha256:");
  text.remove_prefix(prefix.size());
  if (text.size() != 2 * sha256_bytes) return invalid("fingerprint: not 64 hexadecimal digits");
  Bytes digest;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const auto high = digit_value(text[at]);
    const auto low = digit_value(text[at + 1]);
    if (!high || !low) return invalid("fingerprint: not 64 hexadecimal digits");
    digest.push_back(static_cast<char>(*high << 4U | *low));
  }
  return Fingerprint(std::move(digest));
}

std::string Fingerprint::text() const { return std::string(prefix) + to_hex(digest_); }

bool Fingerprint::operator==(const Fingerprint& other) const {
  return digest_.size() == other.digest_.size() &&
         CRYPTO_memcmp(digest_.data(), other.digest_.data(), digest_.size()) == 0;
}

}  // namespace outhaul::crypto
