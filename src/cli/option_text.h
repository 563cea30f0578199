// What people write behind options, judged before anything is sent. The messages go after the option's name.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace CLI {
class Option;
}

namespace outhaul::cli {

// "30s", "1h30m". Fails with `invalid` and says how to write it.
Result<void> check_duration(const std::string& text);
// A whole number from 0 on. CLI11 itself takes "-1" for a very large one.
Result<void> check_offset(const std::string& text);

// Make a wrong value a wrong command line.
CLI::Option* takes_duration(CLI::Option* option);
CLI::Option* takes_offset(CLI::Option* option);

}  // namespace outhaul::cli
