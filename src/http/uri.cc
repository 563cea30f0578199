#include "http/uri.h"

#include <algorithm>
#include <charconv>

#include "http/utf8.h"

namespace outhaul::http {
namespace {

constexpr std::size_t max_query_pairs = 64;

constexpr bool is_alnum(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9');
}
constexpr bool is_control(char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }

// -1 for a character that is no hexadecimal digit.
constexpr int hex_value(char c) {
  if ('0' <= c && c <= '9') return c - '0';
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  if ('A' <= c && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      if (text.size() - at < 3) return invalid("address: a percent sign without two digits");
      const int high = hex_value(text[at + 1]);
      const int low = hex_value(text[at + 2]);
      if (high < 0 || low < 0) return invalid("address: a percent sign without two digits");
      c = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (is_control(c)) return invalid("address: a control character");
    decoded.push_back(c);
  }
  if (!is_utf8(decoded)) return invalid("address: not UTF-8");
  return decoded;
}

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' && host.front() != '.' &&
         std::ranges::all_of(host, [](char c) { return is_alnum(c) || c == '-' || c == '.'; });
}

bool is_ipv6_text(std::string_view host) {
  return host.size() >= 2 && host.size() <= 45 && host.find(':') != host.npos &&
         std::ranges::all_of(host, [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
}

struct HostPort {
  std::string_view host;
  std::string_view port;  // empty: none was given
};

// Splits "host:port" and "[v6]:port"; what is wrong in it is the caller's sentence.
std::optional<HostPort> split_authority(std::string_view text) {
  HostPort parts;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == text.npos) return std::nullopt;
    parts.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!is_ipv6_text(parts.host)) return std::nullopt;
  } else {
    parts.host = text.substr(0, text.find(':'));
    text.remove_prefix(parts.host.size());
    if (!is_host_name(parts.host)) return std::nullopt;
  }
  if (text.empty()) return parts;
  parts.port = text.substr(1);
  if (text.front() != ':' || parts.port.empty()) return std::nullopt;
  return parts;
}

std::optional<std::uint16_t> find_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return port;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

}  // namespace

Result<std::string> parse_percent_encoded(std::string_view text) { return decode(text, false); }

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return encoded;
}

Result<Query> parse_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const auto piece = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    const auto equals = std::min(piece.find('='), piece.size());
    OUTHAUL_TRY(name, decode(piece.substr(0, equals), true));
    OUTHAUL_TRY(value, decode(piece.substr(std::min(equals + 1, piece.size())), true));
    if (name.empty()) return fail(ErrorCode::invalid, "query: a value without a name");
    if (std::ranges::find(pairs, name, [](const auto& pair) { return pair.first; }) != pairs.end()) {
      return fail(ErrorCode::invalid, "query: a name is given twice");
    }
    if (pairs.size() == max_query_pairs) return fail(ErrorCode::invalid, "query: more than 64 values");
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return Query(std::move(pairs));
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    const auto slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == path.npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::string Url::text() const { return "https://" + authority(); }
std::string Url::authority() const { return bracketed(host) + ":" + std::to_string(port); }

Result<Url> parse_url(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  if (text.starts_with("https://")) text.remove_prefix(8);
  if (text.find("://") != text.npos) return invalid("hub address: the scheme must be https");
  if (text.ends_with('/')) text.remove_suffix(1);
  const auto parts = split_authority(text);
  if (!parts)
    return invalid("hub address: must be https://HOST or https://HOST:PORT, without user, path or query");
  Url url{.host = std::string(parts->host)};
  if (parts->port.empty()) return url;
  const auto port = find_port(parts->port);
  if (!port || *port == 0) return invalid("hub address: the port must be 1..65535");
  url.port = *port;
  return url;
}

std::string ListenAddress::text() const { return bracketed(host) + ":" + std::to_string(port); }

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto parts = split_authority(text);
  const auto port = parts ? find_port(parts->port) : std::nullopt;
  if (!port)
    return fail(ErrorCode::invalid,
                "listen address: must be ADDRESS:PORT, such as 127.0.0.1:8443 or [::]:443");
  return ListenAddress{std::string(parts->host), *port};
}

}  // namespace outhaul::http
