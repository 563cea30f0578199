#include "policy/shell_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/known_programs.h"
#include "policy/shell_syntax.h"

namespace outhaul::policy {
namespace {

using Words = std::span<const ShellWord>;

// How a program that starts another one reads its own arguments.
struct Starter {
  std::string_view short_with_value;  // letters of options that take a value
  std::string_view short_alone;
  std::vector<std::string_view> long_with_value;  // as separate words; --name=value needs no entry
  std::vector<std::string_view> long_alone;
  std::size_t operands = 0;               // words before the program
  std::string_view short_with_rest = {};  // letters whose value, if any, is the rest of the word
};

const std::map<std::string_view, Starter>& starters() {
  static const std::map<std::string_view, Starter> known = {
      {"builtin", {}},
      {"busybox", {}},
      {"chrt", {"", "abfimoprRdT", {}, {}, 1}},
      {"command", {"", "p", {}, {}}},
      {"exec", {"a", "cl", {}, {}}},
      {"flock", {"wEc", "sxnuoF", {"--timeout", "--wait"}, {"--shared", "--exclusive", "--nonblock"}, 1}},
      {"ionice", {"cnpPu", "t", {"--class", "--classdata"}, {"--ignore"}}},
      {"nice", {"n", "0123456789", {"--adjustment"}, {}}},
      {"nohup", {}},
      {"setsid", {"", "cfw", {}, {"--ctty", "--fork", "--wait"}}},
      {"stdbuf", {"ioe", "", {"--input", "--output", "--error"}, {}}},
      {"taskset", {"", "apc", {}, {"--all-tasks", "--cpu-list"}, 1}},
      {"time", {"fo", "apqvV", {"--format", "--output"}, {"--portability", "--verbose", "--quiet"}}},
      {"timeout",
       {"ks", "v", {"--kill-after", "--signal"}, {"--foreground", "--preserve-status", "--verbose"}, 1}},
      {"xargs",
       {"adEILnPs",
        "0oprtx",
        {"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars"},
        {"--null", "--no-run-if-empty", "--verbose", "--interactive", "--exit", "--open-tty", "--replace"},
        0,
        "iel"}},
  };
  return known;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool changes_lookup(std::string_view assignment) {
  const auto name = assignment.substr(0, assignment.find('='));
  return name == "PATH" || name == "ENV" || name == "IFS" || name == "BASH_ENV" || name.starts_with("LD_") ||
         name.starts_with("BASH_FUNC_");
}

bool names_variables(std::string_view builtin) {
  return builtin == "export" || builtin == "readonly" || builtin == "read" || builtin == "local" ||
         builtin == "getopts";
}

std::unexpected<Error> unreadable(const ShellWord& at, std::string_view why) {
  return fail(ErrorCode::invalid,
              "cannot be read at byte " + std::to_string(at.offset) + ": " + std::string(why));
}

// How many words an option of `env` is. Empty: it is not known; `-S` makes a command from a text.
std::optional<std::size_t> environment_option_words(const std::string& text) {
  if (text == "-u" || text == "-C" || text == "--unset" || text == "--chdir") return 2;
  for (const auto* alone : {"-", "--", "-i", "-0", "--ignore-environment", "--null"}) {
    if (text == alone) return 1;
  }
  const bool has_value =
      text.starts_with("-u") || text.starts_with("--unset=") || text.starts_with("--chdir=");
  return has_value ? std::optional<std::size_t>(1) : std::nullopt;
}

class Collector {
 public:
  explicit Collector(int depth) : depth_(depth) {}

  Result<void> read_line(const std::string& line) {
    OUTHAUL_TRY(syntax, parse_shell_line(line, depth_));
    functions_.merge(syntax.functions);
    for (const auto& command : syntax.commands) {
      for (const auto& assignment : command.assignments) OUTHAUL_CHECK(check_assignment(assignment));
      if (!command.words.empty()) OUTHAUL_CHECK(read_words(command.words));
    }
    return {};
  }
  // `words` is not empty.
  Result<void> read_words(Words words);

  std::vector<ProgramCall> take_calls() {
    for (auto& call : calls_) call.is_function = functions_.contains(call.program);
    return std::move(calls_);
  }

 private:
  static Result<void> check_assignment(const ShellWord& word) {
    if (changes_lookup(word.text)) return unreadable(word, "it changes how programs are found");
    return {};
  }
  void add_call(Words words);
  Result<void> read_builtin(const std::string& name, Words words);
  Result<void> read_trap(Words words);
  Result<void> read_variables(Words words);
  Result<void> read_inner(Words words);
  Result<void> read_inner_line(const ShellWord& line);
  Result<void> read_joined(Words words);
  Result<void> read_environment(Words words);
  Result<void> read_started(const std::string& name, const Starter& starter, Words words);
  Result<void> read_xargs(Words rest, const std::optional<std::string>& replaced);
  Result<void> read_find(Words words);
  Result<void> read_shell(Words words);
  Result<void> read_shell_line(Words words);

  int depth_;
  bool is_in_shell_ = false;  // builtins exist only there
  std::set<std::string> functions_;
  std::vector<ProgramCall> calls_;
};

void Collector::add_call(Words words) {
  ProgramCall call{.program = words.front().text, .arguments = {}};
  for (const auto& word : words.subspan(1)) {
    call.arguments.push_back(word.text);
    call.has_unknown_arguments = call.has_unknown_arguments || !word.is_known;
  }
  calls_.push_back(std::move(call));
}

Result<void> Collector::read_words(Words words) {
  if (depth_ > max_shell_depth) return unreadable(words.front(), "nested too deep");
  const auto& program = words.front();
  if (!program.is_known) return unreadable(program, "which program runs is decided at run time");
  if (program.text.empty()) return unreadable(program, "an empty name of a program");
  if (is_in_shell_ && is_shell_builtin(program.text)) return read_builtin(program.text, words);
  add_call(words);
  // What it starts, it starts without a shell, unless it is one.
  const bool was_in_shell = std::exchange(is_in_shell_, false);
  auto read = read_inner(words);
  is_in_shell_ = was_in_shell;
  return read;
}

Result<void> Collector::read_inner(Words words) {
  const auto name = base_name(words.front().text);
  if (name == "env") return read_environment(words.subspan(1));
  if (name == "find") return read_find(words.subspan(1));
  if (is_shell(name)) return read_shell(words.subspan(1));
  const auto starter = starters().find(name);
  return starter == starters().end() ? Result<void>() : read_started(name, starter->second, words.subspan(1));
}

Result<void> Collector::read_builtin(const std::string& name, Words words) {
  const auto rest = words.subspan(1);
  if (name == "." || name == "source") return unreadable(words.front(), "it takes commands from a file");
  if (name == "alias") return unreadable(words.front(), "it gives commands other names");
  if (name == "eval") return rest.empty() ? Result<void>() : read_joined(rest);
  if (name == "trap") return read_trap(rest);
  if (names_variables(name)) return read_variables(rest);
  // It only asks where the program is.
  if (name == "command" && !rest.empty() && (rest[0].text == "-v" || rest[0].text == "-V")) return {};
  const auto starter = starters().find(name);
  return starter == starters().end() ? Result<void>() : read_started(name, starter->second, rest);
}

Result<void> Collector::read_trap(Words words) {
  if (words.size() < 2) return {};
  const auto& action = words.front();
  const bool is_reset = action.is_known && (action.text == "-" || action.text.empty());
  return is_reset ? Result<void>() : read_inner_line(action);
}

Result<void> Collector::read_variables(Words words) {
  for (const auto& word : words) {
    OUTHAUL_CHECK(check_assignment(word));
    if (!word.is_known && word.plain_bytes == 0)
      return unreadable(word, "a variable whose name is not known");
  }
  return {};
}

Result<void> Collector::read_inner_line(const ShellWord& line) {
  if (!line.is_known) return unreadable(line, "a line that is made at run time");
  ++depth_;
  const bool was_in_shell = std::exchange(is_in_shell_, true);
  const auto read = read_line(line.text);
  is_in_shell_ = was_in_shell;
  --depth_;
  if (read) return {};
  return unreadable(line, "in the line that stands there: " + read.error().what());
}

Result<void> Collector::read_joined(Words words) {
  ShellWord line = words.front();
  for (const auto& word : words.subspan(1)) {
    line.text += " " + word.text;
    line.is_known = line.is_known && word.is_known;
  }
  return read_inner_line(line);
}

Result<void> Collector::read_environment(Words words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& word = words[at];
    if (!word.is_known) return unreadable(word, "a word of `env` that is decided at run time");
    if (word.text.starts_with('-')) {
      const auto count = environment_option_words(word.text);
      if (!count) return unreadable(word, "an option of `env` that is not known here or splits a text");
      at += *count - 1;
    } else if (word.text.contains('=')) {
      OUTHAUL_CHECK(check_assignment(word));
    } else {
      return read_words(words.subspan(at));
    }
  }
  return {};
}

// How many words an option of `starter` is, 1 or 2. Empty: it is not known.
std::optional<std::size_t> option_words(const Starter& starter, const std::string& text) {
  if (text.starts_with("--")) {
    const auto name = text.substr(0, text.find('='));
    const bool has_value = std::ranges::count(starter.long_with_value, name) > 0;
    if (!has_value && std::ranges::count(starter.long_alone, name) == 0) return std::nullopt;
    return has_value && name == text ? 2 : 1;
  }
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (starter.short_with_value.contains(text[i])) return i + 1 == text.size() ? 2 : 1;
    if (starter.short_with_rest.contains(text[i])) return 1;
    if (!starter.short_alone.contains(text[i])) return std::nullopt;
  }
  return 1;
}

// Which text of its command `xargs` replaces by a word of its input, when this option says it does.
void note_replaced(Words option, std::size_t count, std::optional<std::string>& replaced) {
  const auto& text = option.front().text;
  if (text.starts_with("-I")) {
    replaced = count == 1 ? text.substr(2) : option.size() > 1 ? option[1].text : "";
  } else if (text.starts_with("-i")) {
    replaced = text.size() > 2 ? text.substr(2) : "{}";
  } else if (text.starts_with("--replace")) {
    replaced = text.contains('=') ? text.substr(text.find('=') + 1) : "{}";
  }
}

Result<void> Collector::read_started(const std::string& name, const Starter& starter, Words words) {
  std::size_t at = 0;
  std::optional<std::string> replaced;
  while (at < words.size() && words[at].text.starts_with('-') && words[at].text.size() > 1) {
    const auto& text = words[at].text;
    if (!words[at].is_known) return unreadable(words[at], "an option that is decided at run time");
    if (text == "--") {
      ++at;
      break;
    }
    const auto count = option_words(starter, text);
    if (!count) return unreadable(words[at], "an option of a program that starts others is not known here");
    if (name == "xargs") note_replaced(words.subspan(at), *count, replaced);
    at += *count;
  }
  for (std::size_t i = 0; i < starter.operands && at < words.size(); ++i, ++at) {
    if (words[at].may_split)
      return unreadable(words[at], "a word before the program that is decided at run time");
  }
  const auto rest = at < words.size() ? words.subspan(at) : Words();
  if (name == "xargs") return read_xargs(rest, replaced);
  return rest.empty() ? Result<void>() : read_words(rest);
}

// What it adds to the command comes from its input.
Result<void> Collector::read_xargs(Words rest, const std::optional<std::string>& replaced) {
  std::vector<ShellWord> words(rest.begin(), rest.end());
  if (words.empty()) return {};
  if (replaced) {
    for (auto& word : words) {
      if (word.text.contains(*replaced)) word.is_known = false;
    }
  } else {
    words.push_back({.text = "", .is_known = false, .is_plain = false, .offset = rest.back().offset});
  }
  return read_words(words);
}

Result<void> Collector::read_find(Words words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& text = words[at].text;
    if (words[at].may_split) return unreadable(words[at], "a word of `find` that may become several");
    if (text != "-exec" && text != "-execdir" && text != "-ok" && text != "-okdir") continue;
    std::vector<ShellWord> inner;
    for (++at; at < words.size() && words[at].text != ";" && words[at].text != "+"; ++at) {
      inner.push_back(words[at]);
      if (inner.back().text.contains("{}")) inner.back().is_known = false;
    }
    if (!inner.empty()) OUTHAUL_CHECK(read_words(inner));
  }
  return {};
}

Result<void> Collector::read_shell(Words words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto& text = words[at].text;
    if (!words[at].is_known)
      return unreadable(words[at], "an argument of a shell that is decided at run time");
    if (text == "--rcfile" || text == "--init-file")
      return unreadable(words[at], "it takes commands from a file");
    if (text.starts_with("--") && text.size() > 2) continue;
    const bool is_option = text.size() > 1 && (text[0] == '-' || text[0] == '+') && text != "--";
    if (!is_option) return {};
    if (text[0] == '-' && text.contains('c')) return read_shell_line(words.subspan(at));
    if (text.ends_with('o') || text.ends_with('O')) ++at;  // the option's name
  }
  return {};
}

// From the option `-c` on. Other options may still follow; the line is the first word that is none.
Result<void> Collector::read_shell_line(Words words) {
  auto rest = words.subspan(1);
  while (!rest.empty() && rest.front().is_known && rest.front().text.starts_with('-')) rest = rest.subspan(1);
  return rest.empty() ? unreadable(words.front(), "a shell without its line") : read_inner_line(rest.front());
}

}  // namespace

Result<std::vector<ProgramCall>> read_command(std::span<const std::string> argv) {
  std::vector<ShellWord> words;
  for (const auto& argument : argv) {
    words.push_back({.text = argument, .is_plain = false, .plain_bytes = argument.size(), .offset = 0});
  }
  if (words.empty()) return fail(ErrorCode::invalid, "no program is named");
  Collector collector(0);
  OUTHAUL_CHECK(collector.read_words(words));
  return collector.take_calls();
}

}  // namespace outhaul::policy
