#include "crypto/node_identity.h"

#include <algorithm>

namespace outhaul::crypto {
namespace {

constexpr std::string_view scheme = "spiffe://";
constexpr std::string_view node_path = "/node/";
constexpr std::size_t max_name_bytes = 253;
constexpr std::size_t max_label_bytes = 63;

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_alnum(char c) { return ('a' <= c && c <= 'z') || is_digit(c); }

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > max_label_bytes) return false;
  if (!is_alnum(label.front()) || !is_alnum(label.back())) return false;
  return std::ranges::all_of(label, [](char c) { return is_alnum(c) || c == '-'; });
}

}  // namespace

bool is_dns_name(std::string_view text) {
  if (text.size() > max_name_bytes) return false;
  for (;;) {
    const auto dot = text.find('.');
    const auto label = text.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == text.npos) return !std::ranges::all_of(label, is_digit);
    text.remove_prefix(dot + 1);
  }
}

Result<NodeIdentity> NodeIdentity::parse_uri(std::string_view uri) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::certificate_invalid, rule); };
  if (!uri.starts_with(scheme)) return invalid("node identity: not a spiffe URI");
  uri.remove_prefix(scheme.size());
  const auto slash = uri.find('/');
  const auto deployment = uri.substr(0, slash);
  if (!is_dns_name(deployment)) return invalid("node identity: the deployment is no DNS name");
  if (slash == uri.npos || !uri.substr(slash).starts_with(node_path))
    return invalid("node identity: not a node's");
  auto node = NodeId::parse(uri.substr(slash + node_path.size()));
  if (!node) return invalid("node identity: no node id at the end");
  return NodeIdentity{std::string(deployment), std::move(*node)};
}

std::string NodeIdentity::uri() const {
  return std::string(scheme) + deployment + std::string(node_path) + node.text();
}

}  // namespace outhaul::crypto
