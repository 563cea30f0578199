#include "http/problem.h"

#include <algorithm>
#include <charconv>

#include "http/json_reader.h"
#include "http/json_writer.h"

namespace outhaul::http {
namespace {

constexpr std::size_t max_detail_bytes = 4096;

std::string_view find_detail(const Error& error, std::string_view name) {
  const auto found = std::ranges::find(error.details(), name, &ErrorDetail::name);
  return found == error.details().end() ? std::string_view() : std::string_view(found->value);
}

// Whole seconds; what a detail says that is no number is not passed on.
std::string retry_after(const Error& error) {
  const auto text = find_detail(error, "retry_after");
  const bool is_number = !text.empty() && text.size() <= 6 &&
                         std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
  return is_number ? std::string(text) : "1";
}

Error unreadable_problem(int status) {
  const bool may_pass = status >= 500 || status == 429;
  return Error(may_pass ? ErrorCode::unavailable : ErrorCode::invalid,
               "the hub answered " + std::to_string(status) + " without a readable reason")
      .with("status", std::to_string(status));
}

}  // namespace

Response problem_response(const Error& error) {
  const auto& info = info_of(error.code());
  JsonWriter json;
  json.begin_object();
  json.field("type", "urn:outhaul:error:" + std::string(info.name));
  json.field("title", info.meaning);
  json.field("status", info.http_status);
  json.field("code", info.name);
  json.field("detail", error.what());
  json.field("class", name_of(info.error_class));
  if (!error.details().empty()) {
    json.key("details").begin_object();
    for (const auto& detail : error.details()) json.field(detail.name, detail.value);
    json.end_object();
  }
  json.end_object();
  Response response{.status = info.http_status, .headers = {}, .body = std::move(json).take_text()};
  response.headers.add("Content-Type", "application/problem+json");
  if (info.error_class == ErrorClass::retry) response.headers.add("Retry-After", retry_after(error));
  return response;
}

Error parse_problem(int status, ByteView body) {
  auto reader = JsonReader::parse(body);
  if (!reader) return unreadable_problem(status);
  const auto code = find_error_code(reader->find_string("code").value_or(""));
  const auto detail = reader->find_string("detail", max_detail_bytes);
  const auto details = reader->find_string_map("details");
  if (!code || !detail || !reader->finish(JsonReader::UnknownKeys::allowed))
    return unreadable_problem(status);
  Error error(*code, *detail);
  for (const auto& [name, value] : details) error = std::move(error).with(name, value);
  return error;
}

}  // namespace outhaul::http
