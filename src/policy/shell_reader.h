// read_command: which programs a command names, directly and through what starts others: shells with `-c`,
// `env`, `xargs`, `find -exec`, `nohup`, `timeout`, `nice` and their like.
//
// It serves early, friendly refusals and the text of questions. It is no guard: an interpreter allows
// anything.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace outhaul::policy {

// One program that would be started, in the order in which they stand.
struct ProgramCall {
  std::string program;                 // as written: a name or a path
  std::vector<std::string> arguments;  // without argv[0]
  bool has_unknown_arguments = false;  // some are decided at run time
  bool is_function = false;            // the line defines a function of that name
  bool operator==(const ProgramCall&) const = default;
};

// The program itself and all that it names. Builtins of the shell are left out.
// Fails with `invalid` when something in it cannot be read: the place and why; the text is not repeated.
Result<std::vector<ProgramCall>> read_command(std::span<const std::string> argv);

}  // namespace outhaul::policy
