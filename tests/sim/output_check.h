// OutputCheck: compares the records of one task's output stream, in order, with what its program wrote.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "stream/record.h"
#include "tests/sim/program_book.h"
#include "tests/sim/verdict.h"
#include "wire/task_result.h"

namespace outhaul::sim {

class OutputCheck {
 public:
  // `who` holds the records: "hub", "client". All references outlive it.
  OutputCheck(std::string who, TaskId task, const ProgramBook& book, Verdict& verdict)
      : who_(std::move(who)), task_(std::move(task)), book_(&book), verdict_(&verdict) {}

  // Whole records, from offset().
  void take(ByteView records);
  std::uint64_t offset() const { return offset_; }
  // Set with the record that completes the stream.
  const std::optional<Bytes>& result() const { return result_; }
  // Who holds the records lost its tail: only what lies before `offset` was taken.
  void rewind(std::uint64_t offset);

 private:
  void take(const stream::RecordView& record);
  void take_output(const stream::RecordView& record, sandbox::OutputKind kind);
  void take_gap(const stream::RecordView& record);
  void take_result(ByteView payload);
  void check_end(const wire::TaskResult& result, const Program* program);
  bool is_whole(const wire::TaskResult& result, const Program& program) const;
  void fail(std::string_view invariant, const std::string& what);
  // Bytes of the program that lie before `offset` of the stream.
  std::uint64_t program_offset(std::uint64_t offset) const;

  std::string who_;
  TaskId task_;
  const ProgramBook* book_;
  Verdict* verdict_;
  std::uint64_t offset_ = 0;
  std::map<std::uint64_t, std::uint64_t> events_;  // offset of each event's record and its length
  std::map<std::uint64_t, std::uint64_t> gaps_;    // what was left out there
  std::optional<Bytes> result_;
};

}  // namespace outhaul::sim
