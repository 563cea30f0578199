#include "wire/task_spec_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "crypto/node_identity.h"
#include "wire/utf8.h"

namespace outhaul::wire {
namespace {

using Fault = std::optional<std::string>;

// The year 2200: later times are a unit mistaken for another, and their arithmetic would overflow.
constexpr WallTime latest_time{7'258'118'400'000'000'000};

Fault text_fault(const std::string& field, std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) return field + " is longer than " + std::to_string(max_bytes) + " bytes";
  if (text.find('\0') != text.npos) return field + " holds a NUL byte";
  if (!is_utf8(text)) return field + " is not UTF-8";
  return std::nullopt;
}

Fault identity_fault(const TaskSpec& spec) {
  if (spec.task_id.is_empty() || spec.audience.is_empty() || spec.owner.is_empty() ||
      spec.stream_id.is_empty()) {
    return "task_id, audience, owner or stream_id is missing";
  }
  if (!crypto::is_dns_name(spec.issuer)) return "issuer is no DNS name";
  if (spec.stdin_stream_id == spec.stream_id) return "stdin_stream_id is the output's stream";
  if (spec.nonce.size() != task_nonce_bytes) return "nonce is not 16 bytes long";
  if (!Target::make(TargetKind::workspace, spec.workspace)) return "target is no workspace name";
  return std::nullopt;
}

Fault time_fault(const TaskSpec& spec) {
  if (spec.issued_at < WallTime{0} || spec.expires_at > latest_time)
    return "issued_at or expires_at is out of range";
  if (spec.expires_at <= spec.issued_at) return "expires_at is not after issued_at";
  if (spec.expires_at - spec.issued_at > max_task_validity)
    return "expires_at is more than a day after issued_at";
  if (spec.timeout && (spec.timeout->count() <= 0 || *spec.timeout > max_task_timeout))
    return "timeout is out of range";
  if (spec.term_grace.count() < 0 || spec.term_grace > max_term_grace) return "term_grace is out of range";
  return std::nullopt;
}

Fault argv_fault(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) return "argv names no program";
  if (argv.size() > max_arguments)
    return "argv has more than " + std::to_string(max_arguments) + " arguments";
  for (const auto& argument : argv) {
    if (auto fault = text_fault("argv", argument, max_argument_bytes - 1)) return fault;
  }
  return std::nullopt;
}

Fault action_fault(const TaskAction& action) {
  if (const auto* const argv = std::get_if<ArgvAction>(&action)) return argv_fault(argv->argv);
  if (const auto* const echo = std::get_if<EchoAction>(&action))
    return text_fault("echo", echo->text, max_echo_bytes);
  const auto& line = std::get<ShellAction>(action).line;
  if (line.empty()) return "shell is empty";
  return text_fault("shell", line, max_argument_bytes - 1);
}

bool is_env_name(std::string_view name) {
  const auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
  return !name.empty() && name.size() <= max_env_name_bytes && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

Fault env_fault(const std::vector<EnvVar>& env) {
  if (env.size() > max_env_vars) return "env has more than " + std::to_string(max_env_vars) + " variables";
  std::vector<std::string_view> names;
  for (const auto& variable : env) {
    if (!is_env_name(variable.name)) return "env has a name that is none";
    // execve counts name, '=' and value together.
    if (auto fault = text_fault("env", variable.value, max_argument_bytes - 2 - variable.name.size()))
      return fault;
    names.push_back(variable.name);
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) return "env names a variable twice";
  return std::nullopt;
}

// Lexical only: whether a link inside the workspace leads out of it is for whoever opens the directory.
Fault cwd_fault(std::string_view cwd) {
  if (cwd.empty()) return std::nullopt;
  if (auto fault = text_fault("cwd", cwd, max_cwd_bytes)) return fault;
  for (std::string_view rest = cwd;;) {
    const auto slash = rest.find('/');
    const auto part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return "cwd is not a plain path below the workspace";
    if (slash == rest.npos) return std::nullopt;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace

std::optional<std::string> find_fault(const TaskSpec& spec) {
  if (auto fault = identity_fault(spec)) return fault;
  if (auto fault = time_fault(spec)) return fault;
  if (auto fault = action_fault(spec.action)) return fault;
  if (auto fault = env_fault(spec.env)) return fault;
  return cwd_fault(spec.cwd);
}

}  // namespace outhaul::wire
