// What all of our programs have in common on their command lines: `help`, `version`, and how a wrong word is
// told.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace outhaul::cli {

// The words after the program's name, with "help TASK LIST" as "TASK LIST --help", and "version" as
// "--version". Other words stay as they are.
std::vector<std::string> with_flags_for_words(const std::vector<std::string>& words);

// Adds `help` and `version` to what the help lists. Last of all: it also reads which commands there are.
void add_help_words(CLI::App& app);

// Parses as CLI11 does. Throws CLI::ParseError.
void parse_words(CLI::App& app, int argc, char** argv);

// Prints the help that was asked for on standard output (0), or one line about the wrong word on standard
// error: the command, what is wrong, where to read on. Gives `usage_code` then.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int usage_code);

}  // namespace outhaul::cli
