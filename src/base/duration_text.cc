#include "base/duration_text.h"

#include <array>
#include <charconv>

namespace outhaul {
namespace {

struct Unit {
  std::string_view word;
  std::chrono::milliseconds span;
};
constexpr std::array units = {
    Unit{"d", std::chrono::days(1)},          Unit{"h", std::chrono::hours(1)},
    Unit{"m", std::chrono::minutes(1)},       Unit{"s", std::chrono::seconds(1)},
    Unit{"ms", std::chrono::milliseconds(1)},
};

constexpr std::string_view digits = "0123456789";

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::invalid, rule); };
  if (text.empty()) return invalid("duration: empty; write for instance 30s or 1h30m");
  std::chrono::milliseconds sum{0};
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto number_end = text.find_first_not_of(digits);
    if (number_end == 0 || number_end == text.npos)
      return invalid("duration: not a number and a unit (d, h, m, s, ms)");
    std::int64_t number = 0;
    if (std::from_chars(text.data(), text.data() + number_end, number).ec != std::errc()) {
      return invalid("duration: number out of range");
    }
    text.remove_prefix(number_end);
    const auto word = text.substr(0, text.find_first_of(digits));
    while (next_unit < units.size() && units[next_unit].word != word) ++next_unit;
    if (next_unit == units.size())
      return invalid("duration: units are d, h, m, s and ms, in this order, each once");
    const auto span = units[next_unit++].span;
    if (number > (max_duration_text - sum) / span) return invalid("duration: more than ten years");
    sum += number * span;
    text.remove_prefix(word.size());
  }
  return sum;
}

std::string duration_text(std::chrono::nanoseconds span) {
  auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(span);
  std::string text;
  for (const auto& unit : units) {
    const auto count = rest / unit.span;
    rest -= count * unit.span;
    if (count > 0) text.append(std::to_string(count)).append(unit.word);
  }
  return text.empty() ? "0s" : text;
}

}  // namespace outhaul
