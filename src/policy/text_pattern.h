// TextPattern: a regular expression whose match takes time proportional to its text, whatever the text is. A
// policy is applied to what a hostile hub sent, so an engine that backtracks would be a way to stop the node.
// The syntax is that of RE2, on bytes, and a pattern always means the whole text.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"

namespace re2 {
class RE2;
}

namespace outhaul::policy {

class TextPattern {
 public:
  static constexpr std::size_t max_pattern_bytes = 1024;
  static constexpr std::size_t max_text_bytes = 8192;  // a longer text never matches

  // Fails with config_invalid; the message says what kind of fault it is.
  static Result<TextPattern> parse(std::string_view pattern);
  bool matches(std::string_view text) const;

 private:
  explicit TextPattern(std::shared_ptr<const re2::RE2> machine) : machine_(std::move(machine)) {}
  // Shared by copies of the policy; it never changes.
  std::shared_ptr<const re2::RE2> machine_;
};

}  // namespace outhaul::policy
