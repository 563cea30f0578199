// make_process_spec: a signed task as the program that the launcher starts.
#pragma once

#include "base/error.h"
#include "node/node_settings.h"
#include "sandbox/process_launcher.h"
#include "wire/task_spec.h"

namespace outhaul::node {

// PATH, HOME and LANG, then the task's own variables, which win. Nothing of the node's environment. The
// task is no echo (there is nothing to start for one).
sandbox::ProcessSpec make_process_spec(const wire::TaskSpec& task, const NodeSettings& settings);

}  // namespace outhaul::node
