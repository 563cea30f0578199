#include "cli/usage.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

// One line that names the command, what is wrong with its words, and where to read on.
std::string usage_text(const CLI::App* app, const CLI::Error& error) {
  const std::string program = app->get_name();
  std::string path = program;
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands()) {
    path += " " + chosen.front()->get_name();
  }
  std::string what = error.what();
  const auto rest = app->remaining();
  if (path == program && !rest.empty()) what = fmt::format("there is no command `{}`", rest.front());
  // The library counts the `--` before the command's words as one of those that it did not expect.
  if (const auto at = what.find(": -- "); at != what.npos) what.erase(at + 2, 3);
  return fmt::format("{}: {}; see `{} --help`\n", path, shown(what), path);
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&name](const CLI::App* sub) { return sub->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

}  // namespace

std::vector<std::string> with_flags_for_words(const std::vector<std::string>& words) {
  if (words.empty()) return words;
  if (words.front() == "version" && words.size() == 1) return {"--version"};
  if (words.front() != "help") return words;
  if (words.size() == 2 && words.back().starts_with("-")) return {words.back()};
  std::vector<std::string> asked(words.begin() + 1, words.end());
  asked.emplace_back("--help");
  return asked;
}

void add_help_words(CLI::App& app) {
  app.add_subcommand("help", "Show the help of a command: help task list");
  app.add_subcommand("version", "Show the version");
}

void parse_words(CLI::App& app, int argc, char** argv) {
  auto words = with_flags_for_words({argv + 1, argv + argc});
  // Help is given for what there is: the library would show that of the nearest command.
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    const CLI::App* command = &app;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      command = find_command(*command, words[i]);
      if (command == nullptr) throw CLI::ExtrasError(fmt::format("there is no command `{}`", words[i]), 1);
    }
  }
  std::ranges::reverse(words);
  app.parse(std::move(words));
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, int usage_code) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::fputs(usage_text(&app, error).c_str(), stderr);
  return usage_code;
}

}  // namespace outhaul::cli
