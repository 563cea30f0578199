// Judge: applies a policy to one task. Pure: asks only the port for files. Used by the node before it takes a
// task, and by `outhaul-node policy explain`.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "policy/program_files.h"

namespace outhaul::policy {

// What would be executed, with everything the node adds to the task.
struct Request {
  AccountId owner;
  std::string plane = "task";
  std::vector<std::string> argv;           // as executed; a shell line is {"/bin/sh", "-c", line}
  std::vector<std::string> set_variables;  // names that the task sets
  std::string search_path;                 // PATH of the program
  std::string directory;                   // absolute, where it starts
  std::string relative_directory;          // the same below the workspace; empty: the workspace
};

enum class Outcome { allowed, asked, refused };
std::string_view name_of(Outcome outcome);

// One program that the task names and what was found of it.
struct Finding {
  std::string program;  // as written
  std::string file;     // without links; empty: no such program
  int rule_line = 0;    // of the rule that decided, in the file; 0: none
  std::string note;     // a sentence
};

struct Verdict {
  Outcome outcome = Outcome::refused;
  Ask ask = Ask::never;           // when asked
  std::string reason;             // a sentence for the node's owner; names files: never sent to the hub
  std::vector<Finding> programs;  // in the order in which they are named
};

// The owner of the task, apart from the rest, for it is checked earlier.
bool accepts_owner(const Policy& policy, const AccountId& owner);
Verdict judge(const Policy& policy, const Request& request, const ProgramFiles& files);

// Every listed executable that runs any text it is given, with its line: "line 12: /usr/bin/python3 ...".
std::vector<std::string> list_interpreters(const Policy& policy, const ProgramFiles& files);

}  // namespace outhaul::policy
