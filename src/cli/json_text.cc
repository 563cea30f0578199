#include "cli/json_text.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

std::string plain_text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

// As a shell would need it.
std::string quoted(const std::string& word) {
  constexpr std::string_view harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%^";
  if (!word.empty() && word.find_first_not_of(harmless) == word.npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string span_text(std::int64_t nanoseconds) {
  const auto seconds = static_cast<double>(nanoseconds) / 1e9;
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1000) : fmt::format("{:.2f} s", seconds);
}

std::string size_text(std::int64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{}", bytes);
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(units); ++unit) size /= 1024;
  return fmt::format("{} ({:.1f} {})", bytes, size, units[unit]);
}

bool is_empty(const json::value& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         (value.is_array() && value.as_array().empty()) || (value.is_object() && value.as_object().empty());
}

// What may stand in one line of an array: a scalar, or the values of an object.
std::string item_text(const json::value& item, std::string_view key) {
  if (key == "argv") return quoted(plain_text(item));
  if (!item.is_object()) return plain_text(item);
  std::string text;
  for (const auto& [name, value] : item.as_object()) {
    if (!is_empty(value)) text += fmt::format("{}{}", text.empty() ? "" : " ", plain_text(value));
  }
  return text;
}

std::string cell_text(const json::value& value, std::string_view key) {
  if (value.is_array()) {
    std::string text;
    const std::string_view gap = key == "argv" ? " " : ", ";
    for (const auto& item : value.as_array()) {
      if (!text.empty()) text += gap;
      text += item_text(item, key);
    }
    return text;
  }
  if (value.is_bool()) return value.as_bool() ? "yes" : "no";
  if (value.is_double()) return fmt::format("{:.2f}", value.as_double());
  if (value.is_int64() && key.ends_with("_ns")) return span_text(value.as_int64());
  if (value.is_int64() && key.ends_with("_bytes")) return size_text(value.as_int64());
  return plain_text(value);
}

std::string title_of(std::string_view key) {
  std::string title(key.ends_with("_ns") ? key.substr(0, key.size() - 3) : key);
  std::ranges::replace(title, '_', ' ');
  return title;
}

void add_rows(Table& table, const json::object& object, const std::string& within) {
  for (const auto& [name, value] : object) {
    const std::string_view key = name;
    if (is_empty(value)) continue;
    const auto own = title_of(key);
    const auto title = own.starts_with(within) ? own : within + own;
    if (key == "labels") {
      table.add({title, labels_text(value)});
    } else if (value.is_object()) {
      add_rows(table, value.as_object(), title + " ");
    } else {
      table.add({title, shown(cell_text(value, key))});
    }
  }
}

}  // namespace

const json::value* member_of(const json::value& object, std::string_view key) {
  return object.is_object() ? object.as_object().if_contains(key) : nullptr;
}

std::string text_at(const json::value& object, std::string_view key) {
  const auto* const value = member_of(object, key);
  return value == nullptr || value->is_null() ? std::string() : plain_text(*value);
}

std::string age_at(const json::value& object, std::string_view key, WallTime now) {
  const auto text = text_at(object, key);
  std::tm fields{};
  if (text.empty() || ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields) == nullptr) return "-";
  return age_text(WallTime{static_cast<std::int64_t>(::timegm(&fields)) * 1'000'000'000}, now);
}

std::string labels_text(const json::value& labels) {
  std::string text;
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.as_object()) {
      if (!text.empty()) text.push_back(',');
      text += fmt::format("{}={}", std::string_view(key), value.is_string() ? plain_text(value) : "");
    }
  }
  return text.empty() ? "-" : shown(text);
}

std::string described(const json::value& thing) {
  Table table({"", ""});
  if (thing.is_object()) add_rows(table, thing.as_object(), "");
  return table.text(false);
}

}  // namespace outhaul::cli
