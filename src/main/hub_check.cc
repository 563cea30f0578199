// outhaul-hub check: reads everything that serve would, on a disk that takes no change.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <optional>

#include "audit/log_files.h"
#include "crypto/data_directory.h"
#include "http/json_writer.h"
#include "hub/hub_data.h"
#include "main/hub_parts.h"
#include "main/run_on_loop.h"
#include "main/stream_directory.h"
#include "stream/file_disk.h"
#include "stream/journal.h"
#include "stream/scratch_disk.h"
#include "stream/stream_store.h"

namespace outhaul {
namespace {

constexpr std::size_t max_named_faults = 20;

struct StreamFindings {
  stream::JournalRecovery journal;
  stream::StreamRecovery streams;
};

// The journal's records of the audit log, which is read from its files and them together.
class AuditRecords final : public stream::JournalOwner {
 public:
  bool owns(stream::JournalType type) const override { return type >= audit::audit_record_type; }
  Result<void> replay(stream::JournalType, ByteView) override { return {}; }
  Result<void> write_live(stream::Journal&) override { return {}; }
};

struct Findings {
  std::vector<Error> faults;
  std::optional<store::SqliteReport> database;
  std::optional<StreamFindings> streams;
};

Task<Result<StreamFindings>> recover_on(stream::Disk& disk, const Executor& executor) {
  stream::StreamStoreConfig config;
  config.reads_everything = true;
  config.reserve_bytes = 0;
  stream::StreamStore store(executor, disk, config);
  AuditRecords audit;
  std::vector<stream::JournalOwner*> owners = {&store, &audit};
  const stream::JournalConfig must_exist{.must_exist = true};
  OUTHAUL_CO_TRY(journal, co_await stream::Journal::open(disk, std::move(owners), must_exist));
  OUTHAUL_CO_CHECK(co_await store.recover(*journal));
  co_await store.close();
  co_return StreamFindings{journal->recovery(), store.recovery()};
}

Result<StreamFindings> read_streams(const std::filesystem::path& directory) {
  OUTHAUL_CHECK(require_stream_directory(directory));
  asio::io_context io(1);
  stream::FileDisk files(io.get_executor(), directory);
  stream::ScratchDisk disk(files);
  return run_on_loop(io, recover_on(disk, io.get_executor()));
}

// Empty: the log is whole, or there is none yet.
Result<std::vector<Error>> find_audit_faults(const std::filesystem::path& directory) {
  audit::DirectoryFiles files(directory);
  OUTHAUL_TRY(view, audit::read_journal_view(files));
  if (!view.mark) return std::vector<Error>();
  OUTHAUL_TRY(report, audit::check_log(files, view, {}));
  std::vector<Error> faults;
  for (const auto& finding : report.findings) {
    faults.push_back(Error(ErrorCode::journal_corrupt, "audit log: " + finding.what)
                         .with("file", finding.file)
                         .with("offset", std::to_string(finding.offset)));
  }
  return faults;
}

// What is wrong with the records of a complete stream, in one line; empty: nothing.
std::string fault_in(const store::StreamRow& row, ByteView records) {
  std::uint64_t offset = 0;
  for (std::size_t at = 0; at < records.size();) {
    const auto record = stream::parse_record(records.substr(at));
    if (!record) return fmt::format("record at byte {}: {}", at, record.error().what());
    if (record->header.offset != offset)
      return fmt::format("record at byte {}: its offset does not go on here", at);
    offset = record->end_offset();
    at += record->size();
  }
  if (offset != row.payload_bytes) return fmt::format("{} bytes of {}", offset, row.payload_bytes);
  return {};
}

// The database's own check knows its pages, and nothing of what is kept in them.
void check_archive(const store::SqliteLocation& database, std::vector<Error>& faults) {
  const auto visited =
      store::visit_archived_streams(database, [&faults](const store::StreamRow& row, ByteView records) {
        const auto fault = fault_in(row, records);
        if (fault.empty() || faults.size() >= max_named_faults) return;
        faults.push_back(Error(ErrorCode::store_corrupt, "the output of " + row.task.text() + ": " + fault)
                             .with("task", row.task.text())
                             .with("stream", row.id.text()));
      });
  if (!visited) faults.push_back(visited.error());
}

Error damage_of(const stream::SegmentCut& cut) {
  return Error(ErrorCode::journal_corrupt, cut.file + ": " + cut.reason)
      .with("file", cut.file)
      .with("offset", std::to_string(cut.offset));
}

Findings find(const HubOptions& options) {
  Findings found;
  if (const auto config = load_hub_config(options); !config) found.faults.push_back(config.error());
  const auto data = crypto::DataDirectory::open(options.data, crypto::DataOwner::hub);
  if (!data) {
    found.faults.push_back(data.error());
    return found;
  }
  const auto identity = hub::load_identity(*data);
  if (!identity) {
    found.faults.push_back(identity.error());
  } else if (auto database = store::check_sqlite(hub_database(*data, identity->deployment)); !database) {
    found.faults.push_back(database.error());
  } else {
    found.database = std::move(*database);
    check_archive(hub_database(*data, identity->deployment), found.faults);
  }
  auto streams = read_streams(data->file(hub::streams_directory));
  if (!streams) {
    found.faults.push_back(streams.error());
    return found;
  }
  for (const auto& cut : streams->streams.cuts) {
    if (cut.is_damage) found.faults.push_back(damage_of(cut));
  }
  found.streams = std::move(*streams);
  auto audit_faults = find_audit_faults(data->file(hub::streams_directory));
  if (!audit_faults) found.faults.push_back(audit_faults.error());
  if (audit_faults) std::ranges::move(*audit_faults, std::back_inserter(found.faults));
  return found;
}

void print_streams(const StreamFindings& found) {
  const auto& journal = found.journal;
  fmt::print("{} streams, {} records in {}\n", found.streams.streams, journal.records, journal.file);
  if (journal.cut_offset) {
    fmt::print("{}: torn end at offset {}, {} bytes: {}\n", journal.file, *journal.cut_offset,
               journal.cut_bytes, journal.reason);
  }
  for (const auto& cut : found.streams.cuts) {
    if (!cut.is_damage) fmt::print("{}: torn end at offset {}: {}\n", cut.file, cut.offset, cut.reason);
  }
  for (const auto& file : found.streams.set_aside) {
    fmt::print("{} ({} bytes): the journal does not name it; a start sets it aside\n", file.name, file.size);
  }
}

void write_cut(http::JsonWriter& json, std::string_view file, std::uint64_t offset, std::string_view reason,
               bool is_damage) {
  json.begin_object().field("file", file).field("offset", offset).field("reason", reason);
  json.field("is_damage", is_damage).end_object();
}

void write_streams(http::JsonWriter& json, const StreamFindings& found) {
  const auto& journal = found.journal;
  json.key("streams").begin_object().field("count", found.streams.streams);
  json.field("journal", journal.file).field("journal_records", journal.records);
  json.key("cuts").begin_array();
  if (journal.cut_offset) write_cut(json, journal.file, *journal.cut_offset, journal.reason, false);
  for (const auto& cut : found.streams.cuts) {
    write_cut(json, cut.file, cut.offset, cut.reason, cut.is_damage);
  }
  json.end_array().key("not_named").begin_array();
  for (const auto& file : found.streams.set_aside) {
    json.begin_object().field("file", file.name).field("bytes", file.size).end_object();
  }
  json.end_array().end_object();
}

void write_fault(http::JsonWriter& json, const Error& fault) {
  json.begin_object().field("code", name_of(fault.code())).field("message", fault.what());
  json.field("remedy", info_of(fault.code()).remedy).key("details").begin_object();
  for (const auto& detail : fault.details()) json.field(detail.name, detail.value);
  json.end_object().end_object();
}

void print_json(const Findings& found) {
  http::JsonWriter json;
  json.begin_object().field("ok", found.faults.empty());
  json.key("faults").begin_array();
  for (const auto& fault : found.faults) write_fault(json, fault);
  json.end_array();
  if (found.database) {
    json.field("deployment", found.database->deployment.name);
    json.field("migrations_applied", found.database->migrations_applied);
    json.field("migrations_pending", found.database->migrations_pending);
  }
  if (found.streams) write_streams(json, *found.streams);
  json.end_object();
  fmt::print("{}\n", std::move(json).take_text());
}

}  // namespace

int check_hub(const HubOptions& options) {
  const auto found = find(options);
  const int status = found.faults.empty() ? 0 : 1;
  if (options.json) {
    print_json(found);
    return status;
  }
  for (const auto& fault : found.faults) static_cast<void>(report_fault(fault));
  if (found.database) {
    fmt::print("deployment {}, {} migrations applied, {} pending\n", found.database->deployment.name,
               found.database->migrations_applied, found.database->migrations_pending);
  }
  if (found.streams) print_streams(*found.streams);
  return status;
}

}  // namespace outhaul
