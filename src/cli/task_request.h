// The body of `POST /api/v1/tasks` from what a person typed. Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "cli/json_text.h"

namespace outhaul::cli {

struct RunOptions {
  std::vector<std::string> argv;
  std::string shell;
  std::string echo;
  std::string node;
  std::string pool;
  std::vector<std::string> labels;       // k=v
  std::vector<std::string> environment;  // K=V, or K alone: our own value
  std::string directory;
  std::string timeout;
  std::string queue_timeout;
  std::string isolation;
  bool has_stdin = false;
  bool sign = false;  // neither of the two: as the context says
  bool no_sign = false;
  std::string key = "default";  // which of the person's keys signs
  bool detach = false;
};

// Fails with `invalid`; the message names the option.
Result<json::object> task_fields(const RunOptions& options);
Result<Bytes> task_request(const RunOptions& options);

}  // namespace outhaul::cli
