// Secrets on a command line: everybody on the machine can read them there for as long as the program runs.
#pragma once

#include <cstring>
#include <string_view>

namespace outhaul {

// Overwrites the value of every `--option VALUE` and `--option=VALUE` in the process's own arguments, once
// they were parsed. What was seen before that stays seen: standard input and files are better places.
inline void hide_argument(int argc, char** argv, std::string_view option) {
  const auto hide = [](char* value) { std::memset(value, '*', std::strlen(value)); };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") return;
    if (word == option && i + 1 < argc && std::string_view(argv[i + 1]) != "-") hide(argv[i + 1]);
    if (word.size() > option.size() && word.starts_with(option) && word[option.size()] == '=') {
      hide(argv[i] + option.size() + 1);
    }
  }
}

}  // namespace outhaul
