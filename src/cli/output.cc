#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/time_text.h"
#include "cli/terminal.h"
#include "http/json_reader.h"
#include "http/json_writer.h"
#include "wire/task_result_json.h"

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

// What a person who follows should know at once.
std::string note_of_event(ByteView payload) {
  auto event = http::JsonReader::parse(payload);
  if (!event || event->find_string("event").value_or("") != "awaiting_consent") return {};
  return fmt::format("outhaul: waiting for a person at the node to allow this, until {}\n",
                     shown(event->find_string("deadline").value_or("an unknown time")));
}

}  // namespace

Result<std::string> json_line(const stream::EncodedRecord& record) {
  const auto& header = record.header();
  http::JsonWriter json;
  json.begin_object()
      .field("kind", word_of(header.kind))
      .field("offset", header.offset)
      .field("time", time_text(header.time));
  if (header.kind == RecordKind::result) {
    OUTHAUL_TRY(result, wire::parse_task_result(record.payload()));
    json.field("task_id", result.task_id.text()).key("result");
    wire::write_task_result(json, result);
  } else if (header.kind == RecordKind::gap) {
    json.field("bytes_left_out", record.span());
  } else {
    json.field("data", to_base64(record.payload()));
  }
  json.end_object();
  return std::move(json).take_text() + "\n";
}

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
    OUTHAUL_CO_TRY(line, json_line(record));
    co_return co_await out_.write_all(line);
  }
  switch (record.header().kind) {
    case RecordKind::standard_output: co_return co_await out_.write_all(record.payload());
    case RecordKind::standard_error: co_return co_await err_.write_all(record.payload());
    case RecordKind::gap: {
      const auto note = fmt::format("outhaul: {} bytes of output are left out here\n", record.span());
      co_return co_await err_.write_all(note);
    }
    case RecordKind::event: {
      const auto note = note_of_event(record.payload());
      co_return co_await err_.write_all(note);
    }
    default: co_return Result<void>();
  }
}

}  // namespace outhaul::cli
