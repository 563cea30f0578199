#include "cli/output.h"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "base/time_text.h"
#include "cli/invocation.h"
#include "cli/terminal.h"
#include "http/json_writer.h"

namespace outhaul::cli {
namespace {

using stream::RecordKind;

std::string_view word_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::standard_output: return "stdout";
    case RecordKind::standard_error: return "stderr";
    case RecordKind::event: return "event";
    case RecordKind::result: return "result";
    case RecordKind::gap: return "gap";
    case RecordKind::end: return "end";
  }
  return "event";
}

std::string json_line(const stream::EncodedRecord& record) {
  http::JsonWriter json;
  json.begin_object()
      .field("kind", word_of(record.header().kind))
      .field("offset", record.header().offset)
      .field("time", time_text(record.header().time))
      .field("data", to_base64(record.payload()))
      .end_object();
  return std::move(json).take_text() + "\n";
}

}  // namespace

OutputSink::OutputSink(const Executor& executor, Form form)
    : form_(form), out_(executor, STDOUT_FILENO), err_(executor, STDERR_FILENO) {}

Task<Result<void>> OutputSink::write(const stream::EncodedRecord& record) {
  OUTHAUL_CO_CHECK(co_await write_record(record));
  next_offset_ = record.end_offset();
  if (record.header().kind == RecordKind::result) {
    OUTHAUL_CO_TRY(result, wire::parse_task_result(record.payload()));
    result_ = std::move(result);
  }
  co_return Result<void>();
}

Task<Result<void>> OutputSink::write_record(const stream::EncodedRecord& record) {
  if (form_ == Form::json_lines) {
    const auto line = json_line(record);
    co_return co_await out_.write_all(line);
  }
  switch (record.header().kind) {
    case RecordKind::standard_output: co_return co_await out_.write_all(record.payload());
    case RecordKind::standard_error: co_return co_await err_.write_all(record.payload());
    case RecordKind::gap: {
      const auto note = fmt::format("outhaul: {} bytes of output are left out here\n", record.span());
      co_return co_await err_.write_all(note);
    }
    default: co_return Result<void>();
  }
}

int exit_code_of(const wire::TaskResult& result) {
  if (!result.pipe_holder.empty()) {
    std::fputs(
        fmt::format("outhaul: {} still held the output after the command had ended; it was ended too\n",
                    shown(result.pipe_holder))
            .c_str(),
        stderr);
  }
  if (const auto* exited = std::get_if<wire::Exited>(&result.end)) {
    // From 125 on a code could be taken for one of ours.
    if (exited->code >= exit_code::outhaul) {
      std::fputs(fmt::format("outhaul: the command itself exited with {}\n", exited->code).c_str(), stderr);
    }
    return exited->code;
  }
  if (const auto* signalled = std::get_if<wire::Signalled>(&result.end)) {
    std::fputs(
        fmt::format("outhaul: the command was ended by signal {} ({})\n", signalled->signal,
                    ::sigabbrev_np(signalled->signal) != nullptr ? ::sigabbrev_np(signalled->signal) : "?")
            .c_str(),
        stderr);
    return exit_code::signalled + signalled->signal;
  }
  const auto& failed = std::get<wire::Failed>(result.end);
  std::fputs(fmt::format("outhaul: {} ({}). {}\n", shown(failed.message), name_of(failed.code),
                         info_of(failed.code).remedy)
                 .c_str(),
             stderr);
  return exit_code::outhaul;
}

}  // namespace outhaul::cli
