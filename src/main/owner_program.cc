#include "main/owner_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <set>

#include "base/system_clock.h"
#include "http/json_reader.h"
#include "http/json_writer.h"
#include "main/fault_report.h"
#include "main/node_program.h"
#include "main/owner_files.h"
#include "main/owner_socket.h"
#include "main/stranded_tasks.h"
#include "node/owner/lock_file.h"
#include "node/owner/machine_files.h"
#include "node/owner/owner_policy.h"
#include "wire/utf8.h"

namespace outhaul {
namespace {

using http::JsonReader;
using http::JsonWriter;

constexpr int allowed_code = 0;
constexpr int asked_code = 3;
constexpr int refused_code = 4;
constexpr std::size_t max_shown_bytes = 4096;

int report(const Error& error) { return report_fault("outhaul-node", error); }

// A terminal obeys control characters; what a task says of itself must not reach it as such.
std::string shown(std::string_view text) { return wire::printable_utf8(text, max_shown_bytes); }

// The failure that an answer of the node says.
Result<Bytes> unwrap(Bytes answer) {
  OUTHAUL_TRY(json, JsonReader::parse(answer));
  if (auto error = json.find_object("error")) {
    const auto code = find_error_code(error->string("code")).value_or(ErrorCode::internal);
    return fail(code, error->string("message"));
  }
  return answer;
}

// Of the node that runs, else of what it left behind.
Result<Bytes> ask(const OwnerOptions& options, const Bytes& request) {
  auto answer = ask_node(options.data, request);
  if (!answer && answer.error().code() == ErrorCode::not_found) {
    NodeOptions stopped;
    stopped.data = options.data;
    stopped.config_file = options.config_file;
    answer = ask_stopped_node(stopped, request);
  }
  OUTHAUL_CHECK(answer);
  return unwrap(*std::move(answer));
}

// Whether a node took notice. A node that does not run reads the file when it starts.
Result<bool> tell_lock(const OwnerOptions& options) {
  auto told = ask_node(options.data, R"({"do":"lock"})");
  if (told) told = unwrap(*std::move(told));
  if (!told && told.error().code() != ErrorCode::not_found) return std::unexpected(told.error());
  return told.has_value();
}

// Words quoted as a shell would need them, so that it is seen where one ends.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_@%+=:,./-") == word.npos;
  if (is_plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

struct ShownQuestion {
  std::string task;
  bool may_be_for_session = false;
  std::string text;
};

std::string action_of(JsonReader& question) {
  if (question.has("shell")) return "/bin/sh -c " + quoted(question.string("shell", max_shown_bytes * 64));
  std::string line;
  for (const auto& argument : question.find_strings("argv", 4096))
    line += (line.empty() ? "" : " ") + quoted(argument);
  return line;
}

ShownQuestion read_question(JsonReader& question) {
  ShownQuestion shown_question{question.string("task"), question.boolean("may_be_for_session"), {}};
  auto& text = shown_question.text;
  text = fmt::format("task     {}\nasks     {} (account)\nwhat     {}\n", shown_question.task,
                     question.string("owner"), shown(action_of(question)));
  text += fmt::format("where    {} below the workspace\n",
                      quoted(shown(question.find_string("cwd").value_or("."))));
  for (const auto& [name, value] : question.find_string_map("env")) {
    text += fmt::format("sets     {}={}\n", shown(name), quoted(shown(value)));
  }
  text += fmt::format("why      {}\n", shown(question.find_string("why").value_or("")));
  text +=
      fmt::format("runs     {}\n         sha256:{}\n", shown(question.find_string("program").value_or("")),
                  question.find_string("program_sha256").value_or(""));
  text += "effect   it may do everything that the node's user may do: level `trusted` holds nothing back\n";
  if (question.find_boolean("stdin").value_or(false))
    text += "         it reads input that nobody has seen yet\n";
  text += fmt::format("until    {}; no answer is a no\n", question.string("deadline"));
  return shown_question;
}

Result<std::vector<ShownQuestion>> load_questions(const OwnerOptions& options) {
  OUTHAUL_TRY(answer, ask(options, R"({"do":"list"})"));
  OUTHAUL_TRY(json, JsonReader::parse(answer));
  std::vector<ShownQuestion> list;
  for (auto& question : json.objects("questions")) list.push_back(read_question(question));
  return list;
}

Result<void> send_answer(const OwnerOptions& options, const std::string& task, const std::string& answer) {
  JsonWriter json;
  json.begin_object().field("do", "answer").field("task", task).field("answer", answer).end_object();
  OUTHAUL_CHECK(ask(options, std::move(json).take_text()));
  return {};
}

// Empty: skip it. The reader's end is none.
std::optional<std::string> read_answer(const ShownQuestion& question) {
  for (std::string line;;) {
    fmt::print("[o]nce{}, [n]ever, [s]kip? ", question.may_be_for_session ? ", for the se[ss]ion" : "");
    std::fflush(stdout);
    if (!std::getline(std::cin, line)) return std::nullopt;
    if (line == "o" || line == "once") return "once";
    if (line == "n" || line == "never") return "never";
    if (line == "s" || line == "skip") return "";
    if (question.may_be_for_session && (line == "ss" || line == "session")) return "session";
  }
}

Result<wire::TaskSpec> task_of(const OwnerOptions& options) {
  wire::TaskSpec task;
  task.action = wire::ArgvAction{options.argv};
  if (!options.shell.empty()) task.action = wire::ShellAction{options.shell};
  if (options.shell.empty() == options.argv.empty()) {
    return fail(ErrorCode::invalid, "give either `-- PROGRAM ARGUMENTS` or `--shell LINE`");
  }
  task.cwd = options.cwd;
  for (const auto& variable : options.env) {
    const auto equals = variable.find('=');
    if (equals == variable.npos) return fail(ErrorCode::invalid, "--env takes NAME=VALUE");
    task.env.push_back({variable.substr(0, equals), variable.substr(equals + 1)});
  }
  if (!options.account.empty()) {
    OUTHAUL_TRY(account, AccountId::parse(options.account));
    task.owner = account;
  }
  return task;
}

int code_of(policy::Outcome outcome) {
  switch (outcome) {
    case policy::Outcome::allowed: return allowed_code;
    case policy::Outcome::asked: return asked_code;
    case policy::Outcome::refused: return refused_code;
  }
  return refused_code;
}

void print_verdict(const policy::Verdict& verdict, bool as_json) {
  JsonWriter json;
  json.begin_object()
      .field("outcome", policy::name_of(verdict.outcome))
      .field("ask", policy::name_of(verdict.ask));
  json.field("reason", verdict.reason).key("programs").begin_array();
  for (const auto& finding : verdict.programs) {
    json.begin_object().field("program", finding.program).field("file", finding.file);
    json.field("line", finding.rule_line).field("note", finding.note).end_object();
  }
  json.end_array().end_object();
  if (as_json) return fmt::print("{}\n", std::move(json).take_text());
  fmt::print("{}: {}\n", policy::name_of(verdict.outcome), shown(verdict.reason));
  for (const auto& finding : verdict.programs) {
    const auto file = finding.file.empty() ? "no such program" : finding.file;
    fmt::print("  {} ({}): {}\n", shown(finding.program), shown(file), shown(finding.note));
  }
}

}  // namespace

int lock_node(const OwnerOptions& options) {
  const node::LockFile file(options.data);
  // The file first: from here on no node starts anything, whatever becomes of the rest.
  if (auto locked = file.lock({options.reason, SystemClock().wall_now()}); !locked)
    return report(locked.error());
  const auto told = tell_lock(options);
  if (!told) return report(told.error());
  if (!*told) {
    if (auto ended = end_stranded_tasks(options.data); !ended) return report(ended.error());
  }
  fmt::print("locked: nothing runs here until `outhaul-node unlock`\n");
  return 0;
}

int unlock_node(const OwnerOptions& options) {
  const auto unlocked = node::LockFile(options.data).unlock();
  if (!unlocked) return report(unlocked.error());
  const auto told = tell_lock(options);
  if (!told) return report(told.error());
  fmt::print("{}\n", *unlocked ? "unlocked" : "it was not locked");
  return 0;
}

int check_policy(const OwnerOptions& options) {
  const auto files = load_owner_files(options.data, options.config_file);
  if (!files) return report(files.error());
  const auto& policy = files->config.settings.policy;
  if (!policy) {
    fmt::print("no policy.yaml: everything runs that `isolation` in node.yaml allows, and nobody is asked\n");
    return 0;
  }
  const auto interpreters = policy::list_interpreters(*policy, node::MachineFiles());
  if (options.json) {
    JsonWriter json;
    json.begin_object().field("file", files->policy_path).field("mode", policy::name_of(policy->mode));
    json.field("executables", policy->executables.size()).key("interpreters").begin_array();
    for (const auto& line : interpreters) json.value(line);
    json.end_array().end_object();
    fmt::print("{}\n", std::move(json).take_text());
    return 0;
  }
  fmt::print("{}: mode {}, {} executables\n", files->policy_path, policy::name_of(policy->mode),
             policy->executables.size());
  for (const auto& line : interpreters) fmt::print("  {}\n", line);
  return 0;
}

int explain_policy(const OwnerOptions& options) {
  const auto files = load_owner_files(options.data, options.config_file);
  if (!files) return report(files.error());
  const auto task = task_of(options);
  if (!task) return report(task.error());
  const node::MachineFiles machine;
  const node::OwnerPolicy policy(files->config.settings, &machine, nullptr);
  const auto verdict = policy.judge(*task, options.plane);
  print_verdict(verdict, options.json);
  return code_of(verdict.outcome);
}

int list_approvals(const OwnerOptions& options) {
  if (options.json) {
    const auto answer = ask(options, R"({"do":"list"})");
    if (!answer) return report(answer.error());
    fmt::print("{}", *answer);
    return 0;
  }
  const auto questions = load_questions(options);
  if (!questions) return report(questions.error());
  for (const auto& question : *questions) fmt::print("{}\n", question.text);
  if (questions->empty()) fmt::print("no question is open\n");
  return 0;
}

int attend_approvals(const OwnerOptions& options) {
  for (std::set<std::string> seen;;) {
    auto questions = load_questions(options);
    if (!questions) return report(questions.error());
    // Others may have come while the owner thought.
    std::erase_if(*questions, [&seen](const auto& question) { return !seen.insert(question.task).second; });
    if (questions->empty()) break;
    for (const auto& question : *questions) {
      fmt::print("{}", question.text);
      const auto answer = read_answer(question);
      if (!answer) return 0;
      if (answer->empty()) continue;
      if (auto sent = send_answer(options, question.task, *answer); !sent) report(sent.error());
    }
  }
  fmt::print("no other question is open\n");
  return 0;
}

int answer_approval(const OwnerOptions& options) {
  const auto sent = send_answer(options, options.task, options.answer);
  if (!sent) return report(sent.error());
  if (options.json) fmt::print("{{}}\n");
  return 0;
}

int forget_approvals(const OwnerOptions& options) {
  const auto forgotten = ask(options, R"({"do":"forget"})");
  return forgotten ? 0 : report(forgotten.error());
}

}  // namespace outhaul
