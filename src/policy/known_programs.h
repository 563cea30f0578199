// Names that a policy knows without being told.
#pragma once

#include <string_view>

namespace outhaul::policy {

// Programs that gain or hand out privileges, or change what the machine mounts, loads or boots: never run, in
// any mode.
bool is_privileged_program(std::string_view name);
// Programs that run whatever text they are given; listing one allows anything.
bool is_interpreter(std::string_view name);
// Shells that take a line with `-c`.
bool is_shell(std::string_view name);
// What /bin/sh does itself, without a file.
bool is_shell_builtin(std::string_view name);

}  // namespace outhaul::policy
