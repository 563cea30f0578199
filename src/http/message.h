// The values of HTTP: method, headers, request and response heads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::http {

enum class Method { get, head, post, put, patch, del, options };
std::string_view name_of(Method method);  // "GET"
// Case counts, as in HTTP. Empty for a method that no route can have.
std::optional<Method> find_method(std::string_view name);

// In the order of arrival. Names compare without case.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
  };
  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}
  // A name or value with a control character is a broken promise of the caller (header injection).
  void add(std::string name, std::string value);
  // Replaces every field of that name.
  void set(std::string_view name, std::string value);
  // The first of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view value_or_empty(std::string_view name) const {
    return find(name).value_or(std::string_view());
  }
  std::size_t count(std::string_view name) const;
  // True when a comma-separated list in any field of that name holds `token`; neither cares for case.
  bool has_token(std::string_view name, std::string_view token) const;
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

// Text compared without the case of ASCII letters, as header names and tokens are.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Decoded `name=value` pairs in the order of the query.
class Query {
 public:
  Query() = default;
  explicit Query(std::vector<std::pair<std::string, std::string>> pairs) : pairs_(std::move(pairs)) {}
  // The value of that name; empty when absent. A name given twice was refused by the parser.
  std::optional<std::string_view> find(std::string_view name) const;
  auto begin() const { return pairs_.begin(); }
  auto end() const { return pairs_.end(); }
  bool is_empty() const { return pairs_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Request {
  Method method = Method::get;
  std::string path;  // as sent, still percent-encoded; starts with '/'
  Query query;
  Headers headers;
};

// A whole answer. Content-Length is set by the server.
struct Response {
  int status = 200;
  Headers headers;
  Bytes body;
};

// `application/json` with that body.
Response json_response(int status, Bytes body);
// "Not Found" for 404; "Status" for a number without a name.
std::string_view reason_of(int status);

}  // namespace outhaul::http
