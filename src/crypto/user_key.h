// The keys of people: Ed25519, one a person and machine. The public half travels as one word that a node's
// owner writes into node.yaml: `ed25519:` and the 32 raw bytes in base64.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "crypto/signing_key.h"

namespace outhaul::crypto {

std::string user_key_text(const VerifyKey& key);
// Fails with `invalid` as VerifyKey::parse, and for any other form. The message never repeats `text`, which
// may be a private key that somebody took for the public one.
Result<VerifyKey> parse_user_key(std::string_view text);
// Follows from the key: nobody hands it out, and two keys never share one.
KeyId user_key_id(const VerifyKey& key);

}  // namespace outhaul::crypto
