// StandardInput: reads descriptor 0 without holding up the strand.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::cli {

class StandardInput {
 public:
  explicit StandardInput(const Executor& executor);
  ~StandardInput();
  // 1..64 KiB; empty at the end. Cancelling loses no byte.
  Task<Result<Bytes>> read_some();

 private:
  struct Descriptor;
  std::unique_ptr<Descriptor> descriptor_;  // null for what never blocks, such as a file
};

}  // namespace outhaul::cli
