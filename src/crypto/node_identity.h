// NodeIdentity: the name in a node's certificates, spiffe://<deployment>/node/<node id>.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"

namespace outhaul::crypto {

// True for a lower-case DNS name: labels of 1..63 letters, digits and inner hyphens, 253 characters in all,
// the last label not all digits (so that no IPv4 address is one). A deployment is such a name.
bool is_dns_name(std::string_view text);

struct NodeIdentity {
  std::string deployment;
  NodeId node;

  // Fails with `certificate_invalid`; the message never repeats `uri`.
  static Result<NodeIdentity> parse_uri(std::string_view uri);
  std::string uri() const;
  bool operator==(const NodeIdentity&) const = default;
};

}  // namespace outhaul::crypto
