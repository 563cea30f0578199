#include "main/log_sinks.h"

#include <unistd.h>

namespace outhaul {

void StandardErrorSink::write(std::string_view line) {
  std::string whole(line);
  whole.push_back('\n');
  // A log that cannot be written is nothing to stop for.
  static_cast<void>(!::write(STDERR_FILENO, whole.data(), whole.size()));
}

Log::Format standard_error_format() {
  return isatty(STDERR_FILENO) == 1 ? Log::Format::text : Log::Format::json;
}

}  // namespace outhaul
