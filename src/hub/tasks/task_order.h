// TaskOrder: what somebody wants to run, before the hub has chosen a node. The interface reads it from JSON.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "hub/tasks/selector.h"
#include "wire/task_spec.h"
#include "wire/trace_context.h"

namespace outhaul::hub {

struct TaskOrder {
  AccountId owner;
  wire::TaskAction action;
  Selector selector;
  std::string workspace = "default";
  std::string cwd;
  std::vector<wire::EnvVar> env;
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<std::chrono::nanoseconds> queue_timeout;  // none: the hub's default
  std::optional<std::chrono::nanoseconds> term_grace;     // none: the hub's default
  wire::IsolationLevel isolation = wire::IsolationLevel::trusted;
  bool has_stdin = false;
  bool is_interactive = false;
  std::optional<wire::TraceContext> trace;
  Bytes user_order;  // what a person signed; the order says the same. Empty: nobody has signed
};

// The same order twice acts once: the key is the client's, the hash covers what it asked.
struct IdempotencyKey {
  std::string key;  // 1..128 bytes
  Bytes request_hash;
};

}  // namespace outhaul::hub
