// outhaul completion bash|zsh|fish: scripts made from the commands that exist, so that they cannot lag
// behind.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/invocation.h"

namespace outhaul::cli {
namespace {

// What may follow a command: its subcommands and long options.
std::string words_of(const CLI::App& command) {
  std::string words;
  for (const auto* sub : command.get_subcommands(nullptr)) words += sub->get_name() + " ";
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

struct Entry {
  std::string path;  // "outhaul task list"
  std::string words;
};

void collect(const CLI::App& command, const std::string& path, std::vector<Entry>& entries) {
  entries.push_back({path, words_of(command)});
  for (const auto* sub : command.get_subcommands(nullptr))
    collect(*sub, path + " " + sub->get_name(), entries);
}

std::string bash_script(const std::vector<Entry>& entries) {
  std::string script =
      "_outhaul() {\n"
      "  local path=outhaul word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \"$path $word\" in\n";
  for (const auto& entry : entries)
    script += fmt::format("      '{}') path='{}' ;;\n", entry.path, entry.path);
  script +=
      "    esac\n"
      "  done\n"
      "  local words=\n"
      "  case \"$path\" in\n";
  for (const auto& entry : entries)
    script += fmt::format("    '{}') words='{}' ;;\n", entry.path, entry.words);
  script +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -o default -F _outhaul outhaul\n";
  return script;
}

// The same walk as in bash. A dash asks for options, anything else for commands; where there is none, for
// files.
std::string fish_script(const std::vector<Entry>& entries) {
  std::string script =
      "function __outhaul_words\n"
      "  set -l path outhaul\n"
      "  for word in (commandline -opc)[2..]\n"
      "    switch \"$path $word\"\n";
  for (const auto& entry : entries)
    script += fmt::format("      case '{0}'\n        set path '{0}'\n", entry.path);
  script +=
      "    end\n"
      "  end\n"
      "  switch $path\n";
  for (const auto& entry : entries)
    script += fmt::format("    case '{}'\n      string split -n ' ' -- '{}'\n", entry.path, entry.words);
  script +=
      "  end\n"
      "end\n"
      "complete -c outhaul -a '(__outhaul_words)'\n";
  return script;
}

Task<int> print_script(std::string shell, std::vector<Entry> entries) {
  std::string script;
  // zsh runs the script for bash, once both of its completion systems are up.
  if (shell == "zsh") {
    script =
        "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
        "autoload -Uz +X bashcompinit && bashcompinit\n";
  }
  script += shell == "fish" ? fish_script(entries) : bash_script(entries);
  std::fputs(script.c_str(), stdout);
  co_return exit_code::done;
}

}  // namespace

void add_completion_command(CLI::App& app, Invocation& invocation) {
  // Shared by the parser, which fills it, and the action, which outlives the parser's callbacks.
  const auto shell = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print a script that completes commands in your shell");
  command->footer(
      "\nbash: source <(outhaul completion bash)        in ~/.bashrc\n"
      "zsh:  source <(outhaul completion zsh)         in ~/.zshrc\n"
      "fish: outhaul completion fish | source         in ~/.config/fish/config.fish");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &invocation, shell] {
    std::vector<Entry> entries;
    collect(app, "outhaul", entries);
    invocation.action = [shell, entries](Cli&) { return print_script(*shell, entries); };
  });
}

}  // namespace outhaul::cli
