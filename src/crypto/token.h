// Tokens: bearer secrets of 256 random bits. An API token is `oht_` and 43 base64url characters; an
// enrolment token carries its deployment, `ohe_<deployment>_` and 43 characters, so that one string is
// all that a node needs besides the address and the fingerprint. Only token_hash is ever stored.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "base/secret.h"

namespace outhaul::crypto {

// 64 hexadecimal digits. A plain SHA-256 is enough: 256 random bits cannot be guessed from their hash.
std::string token_hash(ByteView token);

Secret make_api_token(Random& random);
// Checks the form only. Fails with `unauthenticated`; the message never repeats `text`.
Result<Secret> parse_api_token(std::string_view text);

struct EnrolmentToken {
  std::string deployment;
  Secret text;  // the whole token
};
// `deployment` is a DNS name (is_dns_name), else `invalid`.
Result<EnrolmentToken> make_enrolment_token(std::string_view deployment, Random& random);
// Checks the form only. Fails with `enrolment_token_invalid`; the message never repeats `text`.
Result<EnrolmentToken> parse_enrolment_token(std::string_view text);

}  // namespace outhaul::crypto
