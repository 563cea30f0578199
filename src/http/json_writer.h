// JsonWriter: builds one JSON text, compact, in the order of the calls. Text that is no UTF-8 is written
// with U+FFFD in place of the bad bytes. A value without its key, or a missing end, is a broken promise.
//
//   JsonWriter json;
//   json.begin_object().key("id").value(id.text()).key("slots").value(4).end_object();
//   return json_response(200, std::move(json).take_text());
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace outhaul::http {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag);
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && !std::same_as<Int, char>)
  JsonWriter& value(Int number) {
    if constexpr (std::is_signed_v<Int>) {
      return signed_value(number);
    } else {
      return unsigned_value(number);
    }
  }
  JsonWriter& value(double number);
  JsonWriter& null();
  // Text that is JSON already, such as a stored document.
  JsonWriter& raw(std::string_view json);
  // key and value in one.
  template <class T>
  JsonWriter& field(std::string_view name, const T& field_value) {
    return key(name).value(field_value);
  }
  Bytes take_text() &&;

 private:
  JsonWriter& signed_value(std::int64_t number);
  JsonWriter& unsigned_value(std::uint64_t number);
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket, char closing);
  void before_value();
  Bytes text_;
  std::string open_;  // one '{' or '[' a level
  bool needs_comma_ = false;
  bool has_key_ = false;
};

}  // namespace outhaul::http
