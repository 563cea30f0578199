// Log: one event a line, a constant phrase plus typed fields. JSON lines into a file or pipe, text on a
// terminal. Text from a peer is escaped and cut to max_field_bytes. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/error.h"

namespace outhaul {

enum class LogLevel { debug, info, warn, error };

struct LogField {
  LogField(std::string_view n, std::string_view v) : name(n), value(std::string(v)) {}
  LogField(std::string_view n, const std::string& v) : name(n), value(v) {}
  LogField(std::string_view n, const char* v) : name(n), value(std::string(v)) {}
  LogField(std::string_view n, bool v) : name(n), value(v) {}
  template <class Int>
    requires std::is_integral_v<Int>
  LogField(std::string_view n, Int v) : name(n), value(static_cast<std::int64_t>(v)) {}
  LogField(std::string_view n, double v) : name(n), value(v) {}
  std::string_view name;
  std::variant<std::string, bool, std::int64_t, double> value;
};

// Where lines go. The real one writes to a descriptor; tests keep them.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // `line` has no line end.
  virtual void write(std::string_view line) = 0;
};

class Log {
 public:
  static constexpr std::size_t max_field_bytes = 200;

  enum class Format { json, text };
  // `component` names the program or part: "hub". Both references outlive the Log.
  Log(std::string component, const Clock& clock, LogSink& sink, Format format = Format::json,
      LogLevel least = LogLevel::info)
      : component_(std::move(component)), clock_(clock), sink_(sink), format_(format), least_(least) {}

  using Fields = std::initializer_list<LogField>;
  void debug(std::string_view phrase, Fields fields = {}) const { write(LogLevel::debug, phrase, fields); }
  void info(std::string_view phrase, Fields fields = {}) const { write(LogLevel::info, phrase, fields); }
  void warn(std::string_view phrase, Fields fields = {}) const { write(LogLevel::warn, phrase, fields); }
  void error(std::string_view phrase, Fields fields = {}) const { write(LogLevel::error, phrase, fields); }
  // Reports an Error once, at the top of the chain that could not handle it.
  void failure(std::string_view phrase, const Error& error) const;

 private:
  void write(LogLevel level, std::string_view phrase, Fields fields) const;
  std::string component_;
  const Clock& clock_;
  LogSink& sink_;
  Format format_;
  LogLevel least_;
};

}  // namespace outhaul
