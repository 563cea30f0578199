#include "http/websocket_handshake.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "http/problem.h"

namespace outhaul::http {
namespace {

constexpr std::string_view accept_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::string_view version = "13";
constexpr std::size_t key_bytes_size = 16;
constexpr std::size_t key_text_size = 24;  // base64 of 16 bytes

bool is_base64_char(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '+' || c == '/';
}

bool is_key(std::string_view text) {
  return text.size() == key_text_size && text.ends_with("==") &&
         std::ranges::all_of(text.substr(0, 22), is_base64_char);
}

Result<void> check_request(const Request& request, std::string_view subprotocol) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  const auto& headers = request.headers;
  if (request.method != Method::get) return invalid("websocket: the method must be GET");
  if (!headers.has_token("Upgrade", "websocket") || !headers.has_token("Connection", "upgrade")) {
    return invalid("websocket: the request does not ask for an upgrade; a proxy may have removed the header");
  }
  if (headers.count("Sec-WebSocket-Key") != 1 || !is_key(headers.value_or_empty("Sec-WebSocket-Key"))) {
    return invalid("websocket: no valid Sec-WebSocket-Key");
  }
  if (!headers.has_token("Sec-WebSocket-Protocol", subprotocol))
    return invalid("websocket: the subprotocol is not offered");
  if (headers.value_or_empty("Sec-WebSocket-Version") != version) {
    return fail(ErrorCode::protocol_incompatible, "websocket: only version 13 is spoken here");
  }
  return {};
}

Response upgrade_response(std::string_view key, std::string_view subprotocol) {
  Response response{.status = 101, .headers = {}, .body = {}};
  response.headers.add("Upgrade", "websocket");
  response.headers.add("Connection", "Upgrade");
  response.headers.add("Sec-WebSocket-Accept", websocket_accept_value(key));
  response.headers.add("Sec-WebSocket-Protocol", std::string(subprotocol));
  return response;
}

Result<void> check_answer(const Client::Upgraded& answer, std::string_view key,
                          std::string_view subprotocol) {
  const auto violation = [](const char* rule) { return fail(ErrorCode::protocol_violation, rule); };
  if (answer.status >= 400) return fail(parse_problem(answer.status, answer.already_read));
  if (answer.status != 101)
    return violation("websocket: the answer is no upgrade; a proxy may have removed the header");
  const auto& headers = answer.headers;
  if (!headers.has_token("Upgrade", "websocket") || !headers.has_token("Connection", "upgrade") ||
      headers.value_or_empty("Sec-WebSocket-Accept") != websocket_accept_value(key)) {
    return violation("websocket: the answer does not belong to this request");
  }
  if (headers.value_or_empty("Sec-WebSocket-Protocol") != subprotocol)
    return violation("websocket: another subprotocol");
  if (headers.count("Sec-WebSocket-Extensions") != 0)
    return violation("websocket: an extension nobody asked for");
  return {};
}

}  // namespace

std::string websocket_accept_value(std::string_view key) {
  const std::string text = std::string(key).append(accept_suffix);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return to_base64(ByteView(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

Task<Result<UpgradedConnection>> accept_websocket(RequestContext& context, std::string_view subprotocol) {
  auto checked = check_request(context.request(), subprotocol);
  if (!checked) {
    Response response = problem_response(checked.error());
    if (response.status == 426) {
      response.headers.add("Upgrade", "websocket");
      response.headers.add("Sec-WebSocket-Version", std::string(version));
    }
    co_await context.respond(std::move(response));
    co_return fail(std::move(checked).error());
  }
  Response response =
      upgrade_response(context.request().headers.value_or_empty("Sec-WebSocket-Key"), subprotocol);
  co_return co_await context.upgrade(std::move(response));
}

Task<Result<UpgradedConnection>> connect_websocket(Client& client, ClientRequest request,
                                                   std::string subprotocol, Bytes key_bytes) {
  OUTHAUL_ASSERT(key_bytes.size() == key_bytes_size);
  const std::string key = to_base64(key_bytes);
  request.headers.add("Connection", "Upgrade");
  request.headers.add("Upgrade", "websocket");
  request.headers.add("Sec-WebSocket-Version", std::string(version));
  request.headers.add("Sec-WebSocket-Key", key);
  request.headers.add("Sec-WebSocket-Protocol", subprotocol);
  OUTHAUL_CO_TRY(answer, co_await client.upgrade(std::move(request)));
  OUTHAUL_CO_CHECK(check_answer(answer, key, subprotocol));
  co_return UpgradedConnection{std::move(answer.connection), std::move(answer.already_read)};
}

}  // namespace outhaul::http
