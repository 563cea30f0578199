#include "http/message.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace outhaul::http {
namespace {

struct MethodName {
  Method method;
  std::string_view name;
};
constexpr std::array method_names = {
    MethodName{Method::get, "GET"},         MethodName{Method::head, "HEAD"},
    MethodName{Method::post, "POST"},       MethodName{Method::put, "PUT"},
    MethodName{Method::patch, "PATCH"},     MethodName{Method::del, "DELETE"},
    MethodName{Method::options, "OPTIONS"},
};

struct StatusName {
  int status;
  std::string_view reason;
};
constexpr std::array status_names = {
    StatusName{100, "Continue"},
    StatusName{101, "Switching Protocols"},
    StatusName{200, "OK"},
    StatusName{201, "Created"},
    StatusName{202, "Accepted"},
    StatusName{204, "No Content"},
    StatusName{303, "See Other"},
    StatusName{304, "Not Modified"},
    StatusName{400, "Bad Request"},
    StatusName{401, "Unauthorized"},
    StatusName{403, "Forbidden"},
    StatusName{404, "Not Found"},
    StatusName{405, "Method Not Allowed"},
    StatusName{408, "Request Timeout"},
    StatusName{409, "Conflict"},
    StatusName{410, "Gone"},
    StatusName{413, "Content Too Large"},
    StatusName{415, "Unsupported Media Type"},
    StatusName{422, "Unprocessable Content"},
    StatusName{426, "Upgrade Required"},
    StatusName{429, "Too Many Requests"},
    StatusName{431, "Request Header Fields Too Large"},
    StatusName{499, "Client Closed Request"},
    StatusName{500, "Internal Server Error"},
    StatusName{503, "Service Unavailable"},
    StatusName{504, "Gateway Timeout"},
    StatusName{507, "Insufficient Storage"},
};

// Locale-free: header names are ASCII.
constexpr char lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool list_has(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trimmed(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

std::string_view name_of(Method method) { return method_names[static_cast<std::size_t>(method)].name; }

std::optional<Method> find_method(std::string_view name) {
  const auto* found = std::ranges::find(method_names, name, &MethodName::name);
  if (found == method_names.end()) return std::nullopt;
  return found->method;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

void Headers::add(std::string name, std::string value) {
  OUTHAUL_ASSERT(!name.empty() && !has_control(name) && !has_control(value));
  fields_.push_back({std::move(name), std::move(value)});
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const Field& field) { return equals_ignoring_case(field.name, name); });
  add(std::string(name), std::move(value));
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& field : fields_) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields_, [&](const Field& field) { return equals_ignoring_case(field.name, name); }));
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  return std::ranges::any_of(fields_, [&](const Field& field) {
    return equals_ignoring_case(field.name, name) && list_has(field.value, token);
  });
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Response json_response(int status, Bytes body) {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.add("Content-Type", "application/json");
  return response;
}

std::string_view reason_of(int status) {
  const auto* found = std::ranges::find(status_names, status, &StatusName::status);
  return found == status_names.end() ? "Status" : found->reason;
}

}  // namespace outhaul::http
