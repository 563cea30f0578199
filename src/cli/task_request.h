// The body of `POST /api/v1/tasks` from what a person typed. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

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
  bool detach = false;
};

// Fails with `invalid`; the message names the option.
Result<Bytes> task_request(const RunOptions& options);

}  // namespace outhaul::cli
