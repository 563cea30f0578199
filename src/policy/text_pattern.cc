#include "policy/text_pattern.h"

#include <re2/re2.h>

namespace outhaul::policy {
namespace {

// What counts unroll to is bounded by it.
constexpr std::int64_t max_machine_bytes = 1 << 20;

// RE2's own texts repeat a part of the pattern.
const char* fault_of(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorMissingBracket: return "a class does not end";
    case RE2::ErrorMissingParen:
    case RE2::ErrorUnexpectedParen: return "a group does not begin or does not end";
    case RE2::ErrorTrailingBackslash:
    case RE2::ErrorBadEscape: return "a `\\` before something that needs none";
    case RE2::ErrorBadCharClass:
    case RE2::ErrorBadCharRange: return "a class is malformed";
    case RE2::ErrorRepeatArgument:
    case RE2::ErrorRepeatOp: return "nothing to repeat";
    case RE2::ErrorRepeatSize: return "counts are too large";
    case RE2::ErrorPatternTooLarge: return "it is too large";
    default: return "it is malformed";
  }
}

}  // namespace

Result<TextPattern> TextPattern::parse(std::string_view pattern) {
  if (pattern.size() > max_pattern_bytes) return fail(ErrorCode::config_invalid, "it is too large");
  RE2::Options options(RE2::Latin1);  // bytes
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(max_machine_bytes);
  auto machine = std::make_shared<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!machine->ok()) return fail(ErrorCode::config_invalid, fault_of(machine->error_code()));
  return TextPattern(std::move(machine));
}

bool TextPattern::matches(std::string_view text) const {
  return text.size() <= max_text_bytes &&
         RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *machine_);
}

}  // namespace outhaul::policy
