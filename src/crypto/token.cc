#include "crypto/token.h"

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/node_identity.h"

namespace outhaul::crypto {
namespace {

constexpr std::string_view api_prefix = "oht_";
constexpr std::string_view enrolment_prefix = "ohe_";
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t secret_chars = 43;

// base64url without padding of 32 fresh bytes.
std::string draw_secret(Random& random) {
  auto text = to_base64(random.bytes(secret_bytes));
  text.resize(secret_chars);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

bool has_secret_form(std::string_view text) {
  return text.size() == secret_chars &&
         std::ranges::all_of(text, [](char c) { return alphabet.find(c) != alphabet.npos; });
}

}  // namespace

std::string token_hash(ByteView token) { return sha256_hex(token); }

Secret make_api_token(Random& random) { return Secret(std::string(api_prefix) + draw_secret(random)); }

Result<Secret> parse_api_token(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::unauthenticated, rule); };
  if (!text.starts_with(api_prefix)) return invalid("API token: does not start with oht_");
  if (!has_secret_form(text.substr(api_prefix.size())))
    return invalid("API token: not oht_ and 43 characters");
  return Secret(std::string(text));
}

Result<EnrolmentToken> make_enrolment_token(std::string_view deployment, Random& random) {
  if (!is_dns_name(deployment))
    return fail(ErrorCode::invalid, "enrolment token: the deployment is no DNS name");
  auto text = std::string(enrolment_prefix) + std::string(deployment) + "_" + draw_secret(random);
  return EnrolmentToken{std::string(deployment), Secret(std::move(text))};
}

Result<EnrolmentToken> parse_enrolment_token(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::enrolment_token_invalid, rule); };
  if (!text.starts_with(enrolment_prefix)) return invalid("enrolment token: does not start with ohe_");
  // From the end: the secret has one length and may hold an underscore, a DNS name never does.
  const auto body = text.substr(enrolment_prefix.size());
  if (body.size() < secret_chars + 2) return invalid("enrolment token: cut short");
  const auto deployment = body.substr(0, body.size() - secret_chars - 1);
  if (body[deployment.size()] != '_' || !has_secret_form(body.substr(deployment.size() + 1))) {
    return invalid("enrolment token: does not end with _ and 43 characters");
  }
  if (!is_dns_name(deployment)) return invalid("enrolment token: the deployment in it is no DNS name");
  return EnrolmentToken{std::string(deployment), Secret(std::string(text))};
}

}  // namespace outhaul::crypto
