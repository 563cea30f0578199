// parse_shell_line: the simple commands of a line for /bin/sh, wherever they stand: in pipes, lists,
// subshells, substitutions, here-documents, functions and compound commands. It finds what a line names, not
// what the line does, so it is wider than the grammar in one direction only: it may find too much, it must
// miss nothing.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace outhaul::policy {

struct ShellWord {
  std::string text;             // with quotes removed
  bool is_known = true;         // false: an expansion decides the rest at run time
  bool may_split = false;       // an expansion outside quotes: may become no word or several
  bool is_plain = true;         // no quote and no expansion: may be a reserved word
  std::size_t plain_bytes = 0;  // how much of `text` came before the first quote or expansion
  std::size_t offset = 0;       // of its first byte in the line
};

struct SimpleCommand {
  std::vector<ShellWord> words;        // may be empty
  std::vector<ShellWord> assignments;  // NAME=value before the words
};

struct ShellSyntax {
  std::vector<SimpleCommand> commands;
  std::set<std::string> functions;
};

inline constexpr int max_shell_depth = 24;
inline constexpr std::size_t max_shell_commands = 1024;

// `depth`: how many lines this one is nested in. Fails with `invalid`: the line cannot be read, with the
// place ("byte 17") and why; the line is not repeated.
Result<ShellSyntax> parse_shell_line(std::string_view line, int depth = 0);

}  // namespace outhaul::policy
