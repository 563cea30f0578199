// A task as JSON, whole and for lists. The values of its environment may be secrets and are never shown.
#pragma once

#include <string>
#include <vector>

#include "http/json_writer.h"
#include "hub/tasks/selector.h"
#include "store/task_store.h"

namespace outhaul::hub {

// A row and what the hub knows beside it.
struct TaskFacts {
  store::TaskRow row;
  std::string node_name;             // empty: no node, or one that was removed
  std::vector<Waiting> waiting;      // while queued
  bool is_awaiting_consent = false;  // of the person at its node
};

// As lists show it: what needs none of the row's large fields.
void write_task_in_list(http::JsonWriter& json, const TaskFacts& facts);
void write_task(http::JsonWriter& json, const TaskFacts& facts);

}  // namespace outhaul::hub
