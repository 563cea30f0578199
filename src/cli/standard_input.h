// StandardInput: reads descriptor 0 without holding up the strand.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "cli/readiness.h"

namespace outhaul::cli {

class StandardInput {
 public:
  explicit StandardInput(const Executor& executor);
  // 1..64 KiB; empty at the end. Cancelling loses no byte.
  Task<Result<Bytes>> read_some();

 private:
  Readiness ready_;
};

// All of it. Fails with too_large beyond `limit`, with `invalid` when there is nothing.
Task<Result<Bytes>> read_all_input(Executor executor, std::size_t limit);

}  // namespace outhaul::cli
