// Output of a task, from records to a person's descriptors. Bytes go through untouched: what they mean is
// the terminal's business.
#pragma once

#include <optional>

#include "base/error.h"
#include "cli/output_descriptor.h"
#include "stream/record.h"
#include "wire/task_result.h"

namespace outhaul::cli {

// Where records go. Suspends while the reader of the descriptor is slow: that is the back-pressure.
class OutputSink {
 public:
  enum class Form {
    bytes,       // standard output to 1, standard error to 2
    json_lines,  // one JSON object a record, to 1
  };
  OutputSink(const Executor& executor, Form form);

  // Fails with `cancelled` when nobody reads the descriptor any more. `record` stays until it completes.
  Task<Result<void>> write(const stream::EncodedRecord& record);
  // The payload of the result record, once it has come.
  const std::optional<wire::TaskResult>& result() const { return result_; }
  // Where to go on after a lost connection.
  std::uint64_t next_offset() const { return next_offset_; }
  bool has_written() const { return next_offset_ > 0; }

 private:
  Task<Result<void>> write_record(const stream::EncodedRecord& record);
  Form form_;
  OutputDescriptor out_;
  OutputDescriptor err_;
  std::uint64_t next_offset_ = 0;
  std::optional<wire::TaskResult> result_;
};

// One line of `--json`: docs/command-line.md has the form. Fails with protocol_violation for a result that is
// none.
Result<std::string> json_line(const stream::EncodedRecord& record);

}  // namespace outhaul::cli
