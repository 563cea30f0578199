#include "crypto/user_key.h"

#include "crypto/digest.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view algorithm = "ed25519:";
constexpr std::size_t id_bytes = 16;

}  // namespace

std::string user_key_text(const VerifyKey& key) {
  return std::string(algorithm) + to_base64(key.public_key());
}

Result<VerifyKey> parse_user_key(std::string_view text) {
  const auto malformed = [] {
    return fail(ErrorCode::invalid, "public key: not of the form ed25519: and 32 bytes in base64");
  };
  if (!text.starts_with(algorithm)) return malformed();
  const auto bytes = parse_base64(text.substr(algorithm.size()));
  if (!bytes || bytes->size() != ed25519_public_bytes) return malformed();
  // One way to write a key: lists are compared by eye.
  if (to_base64(*bytes) != text.substr(algorithm.size())) return malformed();
  return VerifyKey::parse(*bytes);
}

KeyId user_key_id(const VerifyKey& key) {
  return KeyId::of_digest(sha256(key.public_key()).substr(0, id_bytes));
}

}  // namespace outhaul::crypto
