#include "http/head_parser.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>

#include "http/uri.h"

namespace outhaul::http {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::uint64_t max_body_length = std::uint64_t{1} << 60;
// Two of one of these have no meaning; two readers, such as a proxy and we, would believe different ones.
constexpr std::array single_headers = {
    "Host",   "Authorization",   "Content-Length", "Transfer-Encoding", "Content-Type",
    "Expect", "Idempotency-Key", "Last-Event-ID",  "Traceparent"};

std::unexpected<Error> invalid(const char* rule) { return fail(ErrorCode::invalid, rule); }

bool is_forbidden(char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; }

// What Beast would repair or skip, and another reader might read differently.
Result<void> check_lines(ByteView head) {
  bool is_first = true;
  while (!head.empty()) {
    const auto line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    if (line.empty()) return is_first ? Result<void>(invalid("http: an empty first line")) : Result<void>();
    if (line.front() == ' ' || line.front() == '\t') return invalid("http: a folded header line");
    if (std::ranges::any_of(line, is_forbidden)) return invalid("http: a control character in a header");
    is_first = false;
  }
  return {};
}

template <bool is_request>
Result<void> put_head(beast_http::parser<is_request, beast_http::empty_body>& parser, ByteView head) {
  OUTHAUL_CHECK(check_lines(head));
  boost::system::error_code error;
  parser.eager(false);
  parser.header_limit(static_cast<std::uint32_t>(head.size()) + 1);
  parser.body_limit(boost::none);
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error || !parser.is_header_done()) return invalid("http: a malformed head");
  return {};
}

template <class Message>
Headers take_headers(const Message& message) {
  Headers headers;
  for (const auto& field : message) headers.add(std::string(field.name_string()), std::string(field.value()));
  return headers;
}

Result<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t length = 0;
  const bool is_digits = std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || !is_digits || error != std::errc() || length > max_body_length) {
    return invalid("http: a Content-Length that is no number");
  }
  return length;
}

// Empty when the headers name no body. Two lengths, or a length beside an encoding, are refused even when
// they agree: the peer that sends them is broken or hostile.
Result<std::optional<BodyFraming>> named_framing(const Headers& headers, bool is_http_1_0) {
  const auto lengths = headers.count("Content-Length");
  const auto encodings = headers.count("Transfer-Encoding");
  if (lengths + encodings > 1) return invalid("http: more than one header that frames the body");
  if (encodings == 1) {
    if (is_http_1_0) return invalid("http: Transfer-Encoding in HTTP/1.0");
    if (!equals_ignoring_case(headers.value_or_empty("Transfer-Encoding"), "chunked")) {
      return invalid("http: a Transfer-Encoding other than chunked");
    }
    return BodyFraming{.kind = BodyKind::chunked};
  }
  if (lengths == 0) return std::nullopt;
  OUTHAUL_TRY(length, parse_length(headers.value_or_empty("Content-Length")));
  if (length == 0) return BodyFraming{};
  return BodyFraming{.kind = BodyKind::length, .length = length};
}

Result<void> check_singles(const Headers& headers) {
  for (const char* name : single_headers) {
    if (headers.count(name) > 1) return fail(ErrorCode::invalid, std::string("http: more than one ") + name);
  }
  return {};
}

Result<void> read_target(std::string_view target, Request& request) {
  if (!target.starts_with('/')) return invalid("http: a target that is no path");
  const bool is_visible_ascii = std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!is_visible_ascii || target.find('#') != target.npos)
    return invalid("http: a target with a forbidden character");
  const auto mark = std::min(target.find('?'), target.size());
  request.path = std::string(target.substr(0, mark));
  OUTHAUL_TRY(query, parse_query(target.substr(std::min(mark + 1, target.size()))));
  request.query = std::move(query);
  return {};
}

Result<void> read_expectation(RequestHead& head) {
  const auto expectation = head.request.headers.find("Expect");
  if (!expectation) return {};
  if (!equals_ignoring_case(*expectation, "100-continue")) return invalid("http: an unknown expectation");
  head.expects_continue = !head.is_http_1_0 && head.framing.kind != BodyKind::none;
  return {};
}

bool has_no_body(int status, Method request) {
  return request == Method::head || status < 200 || status == 204 || status == 304;
}

}  // namespace

Result<std::size_t> find_head_end(ByteView bytes, std::size_t max_bytes) {
  for (auto at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return invalid("http: a line that does not end in CRLF");
    if (at < 3 || bytes.substr(at - 3, 4) != "\r\n\r\n") continue;
    if (at + 1 > max_bytes) break;
    return at + 1;
  }
  if (bytes.size() < max_bytes) return 0;
  return std::unexpected(Error(ErrorCode::too_large, "http: the head is over its limit")
                             .with("limit_bytes", std::to_string(max_bytes)));
}

Result<RequestHead> parse_request_head(ByteView bytes) {
  beast_http::request_parser<beast_http::empty_body> parser;
  OUTHAUL_CHECK(put_head(parser, bytes));
  const auto& message = parser.get();
  RequestHead head;
  head.is_http_1_0 = message.version() == 10;
  head.request.headers = take_headers(message);
  const auto& headers = head.request.headers;
  OUTHAUL_CHECK(check_singles(headers));
  const auto method = find_method(message.method_string());
  if (!method) return fail(ErrorCode::method_not_allowed, "http: a method that no address has");
  head.request.method = *method;
  OUTHAUL_CHECK(read_target(message.target(), head.request));
  if (headers.count("Host") != 1 && !head.is_http_1_0) return invalid("http: not exactly one Host");
  OUTHAUL_TRY(framing, named_framing(headers, head.is_http_1_0));
  head.framing = framing.value_or(BodyFraming{});
  head.keep_alive = !head.is_http_1_0 && !headers.has_token("Connection", "close");
  OUTHAUL_CHECK(read_expectation(head));
  return head;
}

Result<ResponseHead> parse_response_head(ByteView bytes, Method request) {
  const auto violation = [](const Error& error) { return fail(ErrorCode::protocol_violation, error.what()); };
  beast_http::response_parser<beast_http::empty_body> parser;
  // The request was a HEAD or not; its framing is ours to judge, so Beast must not look for a body.
  parser.skip(true);
  if (auto put = put_head(parser, bytes); !put) return violation(put.error());
  const auto& message = parser.get();
  ResponseHead head;
  head.status = static_cast<int>(message.result_int());
  head.headers = take_headers(message);
  auto framing = named_framing(head.headers, message.version() == 10);
  if (!framing) return violation(framing.error());
  head.framing = framing->value_or(BodyFraming{.kind = BodyKind::until_close});
  if (has_no_body(head.status, request)) head.framing = BodyFraming{};
  head.keep_alive = message.version() == 11 && !head.headers.has_token("Connection", "close") &&
                    head.framing.kind != BodyKind::until_close;
  return head;
}

}  // namespace outhaul::http
