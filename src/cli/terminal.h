// What a person sees: tables, colour, times. Nothing here depends on what is shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace outhaul::cli {

// Standard output is a terminal and NO_COLOR is unset.
bool stdout_is_terminal();
bool stderr_is_terminal();

// Columns aligned by what they hold; the header only on a terminal, so that a pipe gets rows alone.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  // As many cells as the header has.
  void add(std::vector<std::string> row);
  std::string text(bool with_header) const;
  void print() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// "3s", "12m", "5h", "2d": the age of a thing made at `then`.
std::string age_text(WallTime then, WallTime now);
// Printable: control bytes and escape sequences of untrusted text become '?'; UTF-8 stays.
std::string shown(std::string_view text);

}  // namespace outhaul::cli
