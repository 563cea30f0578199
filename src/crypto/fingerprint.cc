#include "crypto/fingerprint.h"

#include <openssl/crypto.h>

#include "base/bytes.h"
#include "crypto/digest.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view prefix = "sha256:";

}  // namespace

Fingerprint Fingerprint::of_spki(ByteView spki_der) { return Fingerprint(sha256(spki_der)); }

Result<Fingerprint> Fingerprint::parse(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  if (!text.starts_with(prefix)) return invalid("fingerprint: does not start with sha256:");
  text.remove_prefix(prefix.size());
  if (text.size() != 2 * sha256_bytes) return invalid("fingerprint: not 64 hexadecimal digits");
  auto digest = parse_hex(text);
  if (!digest) return invalid("fingerprint: not 64 hexadecimal digits");
  return Fingerprint(*std::move(digest));
}

std::string Fingerprint::text() const { return std::string(prefix) + to_hex(digest_); }

bool Fingerprint::operator==(const Fingerprint& other) const {
  return digest_.size() == other.digest_.size() &&
         CRYPTO_memcmp(digest_.data(), other.digest_.data(), digest_.size()) == 0;
}

}  // namespace outhaul::crypto
