// Strict reading of what a request names: percent-encoding, queries and the URL of a hub.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/message.h"

namespace outhaul::http {

// Decodes %XX once. Fails with `invalid` on a bad escape, a control character or text that is no UTF-8;
// the message never repeats `text`. '+' stays '+'.
Result<std::string> parse_percent_encoded(std::string_view text);
// Every byte outside the unreserved set of RFC 3986 as %XX.
std::string percent_encode(std::string_view text);

// Reads "a=1&b=x%20y" ('+' is a space here). At most 64 pairs; a name that comes twice is `invalid`,
// because two readers could then see two values.
Result<Query> parse_query(std::string_view text);

// The segments of a path, undecoded, without the leading '/': "/a/b/" gives "a", "b", "".
std::vector<std::string_view> split_path(std::string_view path);

// The address of a hub, as `outhaul login` takes it.
struct Url {
  std::string host;  // a DNS name or an address without brackets
  std::uint16_t port = 443;
  std::string text() const;       // "https://host:8443"
  std::string authority() const;  // "host:8443", "[::1]:8443": the Host header
};
// Reads "https://host[:port][/]" (the scheme may be left out). No user, query or path. Fails with `invalid`.
Result<Url> parse_url(std::string_view text);

// "0.0.0.0:8443", "[::]:443", "127.0.0.1:0": where a server listens. Fails with `invalid`.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string text() const;
  bool operator==(const ListenAddress&) const = default;
};
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace outhaul::http
