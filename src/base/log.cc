#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace outhaul {
namespace {

std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warn: return "warn";
    case LogLevel::error: return "error";
  }
  return "error";
}

// Escapes control bytes and everything that is not ASCII, so that a peer's text can neither end the
// line nor drive the terminal that shows it.
void append_escaped(std::string& line, std::string_view text) {
  const auto kept = text.substr(0, Log::max_field_bytes);
  for (const char c : kept) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line.push_back('\\');
      line.push_back(c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      line += fmt::format("\\u{:04x}", byte);
    } else {
      line.push_back(c);
    }
  }
  if (kept.size() < text.size()) line += "...";
}

void append_value(std::string& line, const LogField& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) {
    line.push_back('"');
    append_escaped(line, *text);
    line.push_back('"');
  } else if (const auto* flag = std::get_if<bool>(&field.value)) {
    line += *flag ? "true" : "false";
  } else if (const auto* whole = std::get_if<std::int64_t>(&field.value)) {
    line += fmt::to_string(*whole);
  } else {
    line += fmt::format("{}", std::get<double>(field.value));
  }
}

std::string time_text(WallTime now) {
  const auto seconds = now.nanoseconds / 1'000'000'000;
  const auto micros = now.nanoseconds % 1'000'000'000 / 1'000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(static_cast<std::time_t>(seconds)), micros);
}

}  // namespace

void Log::failure(std::string_view phrase, const Error& error) const {
  write(LogLevel::error, phrase, {{"code", name_of(error.code())}, {"error", error.what()}});
}

void Log::write(LogLevel level, std::string_view phrase, Fields fields) const {
  if (level < least_) return;
  std::string line;
  if (format_ == Format::json) {
    line = fmt::format(R"({{"time":"{}","level":"{}","component":"{}","message":")",
                       time_text(clock_.wall_now()), word_of(level), component_);
    append_escaped(line, phrase);
    line.push_back('"');
    for (const auto& field : fields) {
      line += fmt::format(R"(,"{}":)", field.name);
      append_value(line, field);
    }
    line.push_back('}');
  } else {
    line = fmt::format("{} {:5} {}: {}", time_text(clock_.wall_now()), word_of(level), component_, phrase);
    for (const auto& field : fields) {
      line += fmt::format(" {}=", field.name);
      append_value(line, field);
    }
  }
  sink_.write(line);
}

}  // namespace outhaul
