#include "http/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "http/utf8.h"

namespace outhaul::http {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

void append_escaped(Bytes& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\': out.append({'\\', c}); return;
    case '\n': out.append("\\n"); return;
    case '\r': out.append("\\r"); return;
    case '\t': out.append("\\t"); return;
    default: break;
  }
  // DEL is legal, but a terminal acts on it.
  if ((c >= 0 && c < 0x20) || c == 0x7f) {
    out.append("\\u00");
    out.append({digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]});
    return;
  }
  out.push_back(c);
}

void append_string(Bytes& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const auto valid = valid_utf8_prefix(text);
    for (const char c : text.substr(0, valid)) append_escaped(out, c);
    text.remove_prefix(valid);
    if (text.empty()) break;
    out.append(replacement);
    text.remove_prefix(1);
  }
  out.push_back('"');
}

template <class Number>
void append_number(Bytes& out, Number number) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  OUTHAUL_ASSERT(error == std::errc());
  out.append(digits.data(), end);
}

}  // namespace

void JsonWriter::before_value() {
  OUTHAUL_ASSERT(open_.empty() ? text_.empty() : (open_.back() == '[' || has_key_));
  if (needs_comma_ && !has_key_) text_.push_back(',');
  has_key_ = false;
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin(char bracket) {
  before_value();
  text_.push_back(bracket);
  open_.push_back(bracket);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket, char closing) {
  OUTHAUL_ASSERT(!open_.empty() && open_.back() == bracket && !has_key_);
  open_.pop_back();
  text_.push_back(closing);
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_object() { return begin('{'); }
JsonWriter& JsonWriter::end_object() { return end('{', '}'); }
JsonWriter& JsonWriter::begin_array() { return begin('['); }
JsonWriter& JsonWriter::end_array() { return end('[', ']'); }

JsonWriter& JsonWriter::key(std::string_view name) {
  OUTHAUL_ASSERT(!open_.empty() && open_.back() == '{' && !has_key_);
  if (needs_comma_) text_.push_back(',');
  append_string(text_, name);
  text_.push_back(':');
  has_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) { return raw(flag ? "true" : "false"); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();  // JSON has no other word for it
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::signed_value(std::int64_t number) {
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::unsigned_value(std::uint64_t number) {
  before_value();
  append_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  text_.append(json);
  return *this;
}

Bytes JsonWriter::take_text() && {
  OUTHAUL_ASSERT(open_.empty() && !text_.empty());
  return std::move(text_);
}

}  // namespace outhaul::http
