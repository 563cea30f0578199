#include "cli/option_text.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/duration_text.h"
#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

constexpr std::string_view digits = "0123456789";

// CLI11's form of a check: empty when all is well.
CLI::Option* checked(CLI::Option* option, Result<void> (*check)(const std::string&)) {
  return option->check([check](const std::string& text) {
    const auto judged = check(text);
    return judged ? std::string() : judged.error().what();
  });
}

}  // namespace

Result<void> check_duration(const std::string& text) {
  if (parse_duration(text)) return {};
  const bool lacks_unit = !text.empty() && text.find_first_not_of(digits) == text.npos;
  const auto meant = lacks_unit ? text + "s" : std::string("30s, 5m or 1h30m");
  return fail(ErrorCode::invalid,
              fmt::format("`{}` is no time span: write {} (units: ms, s, m, h, d)", shown(text), meant));
}

Result<void> check_offset(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return {};
  return fail(ErrorCode::invalid,
              fmt::format("`{}` is no offset: write a number of bytes, 0 or more", shown(text)));
}

CLI::Option* takes_duration(CLI::Option* option) {
  return checked(option, check_duration)->type_name("SPAN");
}

CLI::Option* takes_offset(CLI::Option* option) { return checked(option, check_offset)->type_name("OFFSET"); }

}  // namespace outhaul::cli
