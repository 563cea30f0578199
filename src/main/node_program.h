// What outhaul-node does once its command line is read. Each gives the program's exit code.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul {

struct NodeOptions {
  std::string data;
  std::string hub;             // enroll: the hub; run: instead of the one enrolled with
  std::string ca_fingerprint;  // enroll
  std::string token;           // enroll; "-": the first line of standard input
  std::string token_file;      // enroll; empty: none
  std::string name;            // enroll; empty: the host's name
  std::string config_file;     // run; empty: node.yaml in the data directory, else in /etc/outhaul
  bool end_tasks = false;      // run: a drain ends what still runs instead of leaving it to the next process
};

int enrol_node(const NodeOptions& options);
int run_node(const NodeOptions& options);
// What the owner asks of a node that does not run (node/owner/owner_requests.h): its journal is read, the
// answer is durable in it, and nothing starts.
//   errors  data_locked: a node runs. Those of Node::open and of what the node needs to start
Result<Bytes> ask_stopped_node(const NodeOptions& options, Bytes request);

}  // namespace outhaul
