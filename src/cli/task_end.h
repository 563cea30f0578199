// How a task ended, as a person and a script are told. Pure.
#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "base/error.h"
#include "wire/task_result.h"

namespace outhaul::cli {

namespace json = boost::json;

// Of `result` in what the hub shows of a task. Fails with protocol_violation.
Result<wire::TaskEnd> task_end_of(const json::value& result);

// By the table of cli/exit_code.h.
int exit_code_of(const wire::TaskEnd& end);
// The same for who was interrupted by signal `number` and had the task cancelled for that.
int exit_code_after_interrupt(const wire::TaskEnd& end, int number);

// "the command exited with 3", or what failed, its code and what to do about it.
std::string end_sentence(const wire::TaskEnd& end);
// True when its exit code says it all.
bool goes_without_saying(const wire::TaskEnd& end);

// For the column of a list: "exit 3", "KILL", "program_not_found"; "-" while it runs.
std::string end_cell(const json::value& task);
// "KILL"; "signal 40" for one without a name.
std::string signal_name(int number);

}  // namespace outhaul::cli
