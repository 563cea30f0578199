#include "policy/judge.h"

#include <algorithm>

#include "policy/known_programs.h"
#include "policy/shell_reader.h"

namespace outhaul::policy {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool fits_variable(const std::string& pattern, const std::string& name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// One task being judged; collects what was found.
class Hearing {
 public:
  Hearing(const Policy& policy, const Request& request, const ProgramFiles& files)
      : policy_(policy), request_(request), files_(files) {}

  Verdict decide() {
    if (!check_place()) return std::move(verdict_);
    const auto calls = read_command(request_.argv);
    if (calls) {
      for (const auto& call : *calls) {
        if (!check_call(call)) return std::move(verdict_);
      }
    } else if (policy_.restricts_programs()) {
      refuse("the command " + calls.error().what() + "; this policy depends on which programs it names");
      return std::move(verdict_);
    }
    verdict_.outcome = verdict_.ask == Ask::never ? Outcome::allowed : Outcome::asked;
    if (verdict_.reason.empty()) verdict_.reason = "nothing in the policy forbids it";
    return std::move(verdict_);
  }

 private:
  bool refuse(std::string why) {
    verdict_.outcome = Outcome::refused;
    verdict_.reason = std::move(why);
    return false;
  }

  bool check_place() {
    if (!accepts_owner(policy_, request_.owner)) return refuse("`owners` does not list the account");
    if (!policy_.planes.empty() && !policy_.planes.contains(request_.plane)) {
      return refuse("`planes` does not list " + request_.plane);
    }
    return check_variables() && check_directory();
  }

  bool check_variables() {
    if (!policy_.environment) return true;
    for (const auto& name : request_.set_variables) {
      const bool is_allowed = std::ranges::any_of(
          *policy_.environment, [&name](const std::string& pattern) { return fits_variable(pattern, name); });
      if (!is_allowed) return refuse("`environment` does not list a variable that the task sets");
    }
    return true;
  }

  bool check_directory() {
    if (policy_.working_directories.empty()) return true;
    const auto& start = request_.directory;
    // From the workspace, which is the task's directory without what the task added.
    const auto& added = request_.relative_directory;
    const auto workspace = added.empty() ? start : start.substr(0, start.size() - added.size() - 1);
    const bool is_allowed = std::ranges::any_of(policy_.working_directories, [&](const std::string& allowed) {
      if (allowed == ".") return added.empty();
      return is_beneath(start, allowed, workspace, files_);
    });
    return is_allowed || refuse("`working_directories` does not list where the task starts");
  }

  bool check_call(const ProgramCall& call) {
    Finding finding{.program = call.program, .file = {}, .rule_line = 0, .note = {}};
    finding.file = files_.find_program(call.program, request_.search_path, request_.directory).value_or("");
    const bool goes_on = check_names(call, finding) && apply_rules(call, finding);
    if (!goes_on) finding.note = verdict_.reason;
    verdict_.programs.push_back(std::move(finding));
    return goes_on;
  }

  // Both by the name that is written and by the file behind it.
  bool check_names(const ProgramCall& call, const Finding& finding) {
    const auto written = base_name(call.program);
    const auto real = base_name(finding.file);
    for (const auto& name : {written, real}) {
      if (is_privileged_program(name))
        return refuse("`" + name + "` is a privileged program: refused in every mode");
    }
    for (const auto& denied : policy_.deny) {
      const bool is_path = denied.starts_with('/');
      const auto real_denied = is_path ? files_.real_path(denied).value_or(denied) : denied;
      const bool is_hit =
          is_path ? (!finding.file.empty() && finding.file == real_denied) || call.program == denied
                  : written == denied || real == denied;
      if (is_hit) return refuse("`deny` lists " + denied);
    }
    return true;
  }

  bool apply_rules(const ProgramCall& call, Finding& finding) {
    std::string why_not = "no rule of `executables` lists it";
    for (const auto& rule : policy_.executables) {
      if (!is_of_rule(rule, call, finding)) continue;
      why_not = why_not_by(rule, call, finding);
      if (!why_not.empty()) continue;
      finding.rule_line = rule.line;
      finding.note = "the rule of line " + std::to_string(rule.line) + " lists it";
      note_ask(rule.ask.value_or(policy_.ask), call);
      return true;
    }
    if (policy_.mode == Mode::strict && !(call.is_function && finding.file.empty())) {
      return refuse(call.program + ": " + why_not);
    }
    finding.note = why_not + ", and mode " + std::string(name_of(policy_.mode)) + " allows the rest";
    note_ask(policy_.ask, call);
    return true;
  }

  // The name must be the rule's too: one file may do different work under different names.
  bool is_of_rule(const Rule& rule, const ProgramCall& call, const Finding& finding) const {
    return !finding.file.empty() && files_.real_path(rule.path) == finding.file &&
           base_name(call.program) == base_name(rule.path);
  }

  std::string why_not_by(const Rule& rule, const ProgramCall& call, const Finding& finding) const {
    const auto line = "the rule of line " + std::to_string(rule.line);
    if (!rule.owners.empty() && !rule.owners.contains(request_.owner)) return line + " is for other accounts";
    if (rule.arguments && call.has_unknown_arguments)
      return line + " lists arguments, and some are decided at run time";
    if (rule.arguments && !rule.arguments->accepts(call.arguments, request_.directory, files_)) {
      return line + " does not list these arguments";
    }
    if (!rule.sha256.empty() && files_.sha256(finding.file) != rule.sha256) {
      return line + " lists a file with another content";
    }
    return "";
  }

  void note_ask(Ask ask, const ProgramCall& call) {
    if (ask <= verdict_.ask) return;
    verdict_.ask = ask;
    verdict_.reason = "the policy asks before " + base_name(call.program) + " runs";
  }

  const Policy& policy_;
  const Request& request_;
  const ProgramFiles& files_;
  Verdict verdict_;
};

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::allowed: return "allowed";
    case Outcome::asked: return "asked";
    case Outcome::refused: return "refused";
  }
  return "refused";
}

bool accepts_owner(const Policy& policy, const AccountId& owner) {
  return policy.owners.empty() || policy.owners.contains(owner);
}

Verdict judge(const Policy& policy, const Request& request, const ProgramFiles& files) {
  return Hearing(policy, request, files).decide();
}

std::vector<std::string> list_interpreters(const Policy& policy, const ProgramFiles& files) {
  std::vector<std::string> lines;
  for (const auto& rule : policy.executables) {
    const auto real = files.real_path(rule.path).value_or(rule.path);
    if (!is_interpreter(base_name(rule.path)) && !is_interpreter(base_name(real))) continue;
    lines.push_back("line " + std::to_string(rule.line) + ": " + rule.path +
                    " runs whatever it is given: listing it allows anything");
  }
  return lines;
}

}  // namespace outhaul::policy
