// Policy: what a node's owner allows, as `policy.yaml` says it. docs/runbooks/node-owner.md explains the file
// to people.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "policy/argument_schema.h"
#include "wire/task_spec.h"

namespace outhaul::policy {

enum class Mode {
  strict,      // nothing but what `executables` lists
  permissive,  // everything but what `deny` lists
};

// When the person at the node is asked, from least to most.
enum class Ask {
  never,
  once,    // a yes may be given for the session, for exactly the same task again
  always,  // each task anew
};
std::string_view name_of(Mode mode);
std::string_view name_of(Ask ask);

// One entry of `executables`.
struct Rule {
  int line = 0;                             // in the file
  std::string path;                         // absolute; a link is followed when a task is judged
  std::string sha256;                       // 64 hex digits; empty: any content
  std::optional<ArgumentSchema> arguments;  // none: any
  std::set<AccountId> owners;               // empty: any that the policy accepts
  std::optional<Ask> ask;                   // none: the policy's own
};

struct Policy {
  Mode mode = Mode::strict;
  std::set<AccountId> owners;    // accounts whose tasks are taken; empty: any
  std::set<std::string> planes;  // empty: any
  std::vector<Rule> executables;
  // Names without a slash, or absolute paths; never run. Mode permissive only.
  std::vector<std::string> deny;
  // Variables that a task may set; a `*` at the end stands for any rest. None: no rule.
  std::optional<std::vector<std::string>> environment;
  // Where a task may start, below the workspace; ".": the workspace itself. Empty: no rule.
  std::vector<std::string> working_directories;
  Ask ask = Ask::never;  // for what no rule of `executables` says more of
  std::chrono::nanoseconds ask_within = std::chrono::minutes(5);  // no answer by then is a no

  // Whether there is anything that a program's name decides. Shell lines that cannot be read are refused
  // then.
  bool restricts_programs() const;
};

// Reads policy.yaml. Fails with config_invalid, one detail `fault` for each, with file, line and key. Values
// are never repeated.
Result<Policy> parse_policy(std::string_view text, const std::string& file_name);

// Whether the policy can hold on a node that allows these levels. A STRICT policy cannot at `trusted`, where
// the kernel holds nothing back: config_invalid with the reason.
Result<void> check_enforceable(const Policy& policy, const std::vector<wire::IsolationLevel>& levels);

}  // namespace outhaul::policy
