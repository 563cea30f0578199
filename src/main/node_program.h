// What outhaul-node does once its command line is read. Each gives the program's exit code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "node/enrolment/identity.h"
#include "node/tasks/stint.h"
#include "wire/task_spec.h"

namespace outhaul {

struct NodeOptions {
  std::string data;
  std::string hub;             // enroll: the hub; run: instead of the one enrolled with
  std::string ca_fingerprint;  // enroll, and the next three
  std::string token;           // "-": the first line of standard input
  std::string token_file;      // empty: none
  std::string name;            // empty: the host's name
  std::string config_file;     // run; empty: node.yaml in the data directory, else in /etc/outhaul
  bool end_tasks = false;      // run: a drain ends what still runs instead of leaving it to the next process
  bool is_ephemeral = false;   // enrols, runs until its stint is over, and leaves the hub
  node::Stint::Limits stint;   // ephemeral
  std::vector<wire::IsolationLevel> isolation;  // ephemeral: besides those of node.yaml
};

// Makes the data directory a node of the hub that the options name.
Result<node::Enrolment> enrol(const NodeOptions& options);

// The program that starts tasks: beside this one, for a node and its launcher are of one build.
std::filesystem::path launcher_program();
int enrol_node(const NodeOptions& options);
int run_node(const NodeOptions& options);
// What the owner asks of a node that does not run (node/owner/owner_requests.h): its journal is read, the
// answer is durable in it, and nothing starts.
//   errors  data_locked: a node runs. Those of Node::open and of what the node needs to start
Result<Bytes> ask_stopped_node(const NodeOptions& options, Bytes request);

}  // namespace outhaul
