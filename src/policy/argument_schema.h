// ArgumentSchema: which arguments a program may be given, as the owner's file lists them. Matched without
// backtracking.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "policy/program_files.h"
#include "policy/text_pattern.h"

namespace outhaul::policy {

// One of a few texts; a literal is a list of one.
struct OneOf {
  std::vector<std::string> texts;
};
// Decimal, without sign for positive numbers and without leading zeros.
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
// A path that lies beneath `directory`, both as it is written and when its links are followed.
struct PathBeneath {
  std::string directory;  // absolute; or relative to the task's working directory, "." for that itself
};
using ArgumentForm = std::variant<OneOf, TextPattern, IntegerRange, PathBeneath>;

struct ArgumentElement {
  ArgumentForm form;
  bool may_be_absent = false;
  bool may_repeat = false;
};

class ArgumentSchema {
 public:
  static constexpr std::size_t max_elements = 128;

  explicit ArgumentSchema(std::vector<ArgumentElement> elements) : elements_(std::move(elements)) {}
  // `arguments` without argv[0]. `directory`: where relative paths begin, absolute.
  bool accepts(std::span<const std::string> arguments, const std::string& directory,
               const ProgramFiles& files) const;

 private:
  std::vector<ArgumentElement> elements_;
};

// Whether `path` (from `directory` when relative) is `base` or beneath it. False for any path with a part
// "..".
bool is_beneath(const std::string& path, const std::string& base, const std::string& directory,
                const ProgramFiles& files);

}  // namespace outhaul::policy
