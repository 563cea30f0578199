// Where the lines of a program's log go: standard error.
#pragma once

#include "base/log.h"

namespace outhaul {

class StandardErrorSink final : public LogSink {
 public:
  // One write a line, so that lines of several processes on one descriptor do not mix.
  void write(std::string_view line) override;
};

// Text on a terminal, JSON lines anywhere else.
Log::Format standard_error_format();

}  // namespace outhaul
