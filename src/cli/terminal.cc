#include "cli/terminal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "base/assert.h"

namespace outhaul::cli {
namespace {

using std::chrono::nanoseconds;

// Code points, which is close enough to columns for names and ids.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

struct Unit {
  std::string_view word;
  nanoseconds span;
};
// "ms" before "m": the longer word first.
constexpr Unit units[] = {{"ms", std::chrono::milliseconds(1)}, {"s", std::chrono::seconds(1)},
                          {"m", std::chrono::minutes(1)},       {"h", std::chrono::hours(1)},
                          {"d", std::chrono::hours(24)}};

const Unit* take_unit(std::string_view& text) {
  for (const auto& unit : units) {
    if (text.starts_with(unit.word)) {
      text.remove_prefix(unit.word.size());
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }
bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

void Table::add(std::vector<std::string> row) {
  OUTHAUL_ASSERT(row.size() == header_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(bool with_header) const {
  std::vector<std::size_t> widths(header_.size(), 0);
  const auto measure = [&widths](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  };
  if (with_header) measure(header_);
  std::ranges::for_each(rows_, measure);
  std::string out;
  const auto put = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    out.push_back('\n');
  };
  if (with_header) put(header_);
  std::ranges::for_each(rows_, put);
  return out;
}

void Table::print() const { std::fputs(text(::isatty(STDOUT_FILENO) == 1).c_str(), stdout); }

std::string age_text(WallTime then, WallTime now) {
  const auto seconds = std::max<std::int64_t>((now - then).count() / 1'000'000'000, 0);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 60 * 60) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 60 * 60) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

Result<nanoseconds> parse_duration(std::string_view text) {
  constexpr auto rule = "duration: write it as 250ms, 30s, 5m, 1h30m or 2d";
  // Ten years; keeps every sum far from overflow.
  constexpr std::int64_t most = 10LL * 365 * 86400 * 1'000'000'000;
  if (text.empty()) return fail(ErrorCode::invalid, rule);
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || number < 0) return fail(ErrorCode::invalid, rule);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool is_bare = text.empty() && total == 0;
    const Unit* unit = is_bare ? &units[1] : take_unit(text);
    if (unit == nullptr || number > (most - total) / unit->span.count()) return fail(ErrorCode::invalid, rule);
    total += number * unit->span.count();
  }
  return nanoseconds(total);
}

std::string shown(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

}  // namespace outhaul::cli
