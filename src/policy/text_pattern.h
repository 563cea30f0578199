// TextPattern: a regular expression whose match takes time proportional to its text, whatever the text is. A
// policy is applied to what a hostile hub sent, so an engine that backtracks would be a way to stop the node.
//
// Knows: literals, `.`, classes `[a-z0-9_]` and `[^...]`, groups `( )`, `|`, `*`, `+`, `?`, `{n}`, `{n,m}`,
// and `\` before any punctuation, `\d`, `\w`. No back-references, no look-around. It always means the whole
// text.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace outhaul::policy {

class TextPattern {
 public:
  static constexpr std::size_t max_pattern_bytes = 1024;
  static constexpr std::size_t max_steps = 2000;
  static constexpr std::size_t max_text_bytes = 8192;  // a longer text never matches

  // Fails with config_invalid; the message says what is wrong and at which byte.
  static Result<TextPattern> parse(std::string_view pattern);
  bool matches(std::string_view text) const;

  // One step of the machine; public for the compiler in text_pattern.cc only.
  struct Step {
    enum class Kind : std::uint8_t { byte, split, match };
    Kind kind = Kind::match;
    std::bitset<256> bytes;  // byte: which ones go on to `first`
    std::uint32_t first = 0;
    std::uint32_t second = 0;  // split: the other way
  };

 private:
  explicit TextPattern(std::vector<Step> steps, std::uint32_t start)
      : steps_(std::move(steps)), start_(start) {}
  std::vector<Step> steps_;
  std::uint32_t start_;
};

}  // namespace outhaul::policy
