#include "cli/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "base/assert.h"

namespace outhaul::cli {
namespace {

// Code points, which is close enough to columns for names and ids.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
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

std::string shown(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

}  // namespace outhaul::cli
