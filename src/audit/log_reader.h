// LogReader: reads a log's own files record by record, from any sequence on, for the interface: a page at a
// time, or all of it as it stands. It verifies nothing; that is the reader's business who trusts the hub
// least.
//   runs on  the disk's strand; reads block it for at most a block
#pragma once

#include <optional>

#include "audit/audit_entry.h"
#include "audit/chain.h"
#include "stream/disk.h"

namespace outhaul::audit {

// Where a reader stands: the last record it was given, and where the next begins in its file. The offset is a
// hint that is checked; a wrong one costs time only.
struct LogCursor {
  std::uint64_t sequence = 0;
  std::uint64_t offset = 0;
  bool operator==(const LogCursor&) const = default;
};
std::string cursor_text(const LogCursor& cursor);
// Fails with `invalid`.
Result<LogCursor> parse_cursor(std::string_view text);

// What a reader wants; empty texts and zero times want everything.
struct EntryFilter {
  std::string action;  // "task.ended", or "task." for all of them
  std::string actor;
  std::string subject;
  std::string outcome;
  WallTime since;
  WallTime until;
  bool wants(const AuditEntry& entry) const;
};

struct ReadEntry {
  AuditEntry entry;
  std::uint64_t sequence = 0;
};
struct EntryPage {
  std::vector<ReadEntry> entries;
  LogCursor next;
  bool has_more = false;  // also with few or no entries: so much was looked through
};

class LogReader {
 public:
  static constexpr std::size_t block_bytes = 512U << 10U;
  // A page looks through at most so much, so that a rare filter does not hold up the process.
  static constexpr std::uint64_t page_bytes = 4U << 20U;

  explicit LogReader(stream::Disk& disk) : disk_(disk) {}

  // Errors as Disk and File.
  Result<EntryPage> read_page(LogCursor from, const EntryFilter& filter, std::size_t limit);
  // Of the oldest file that is kept. Fails with not_found when there is none.
  Result<LogFileHeader> read_front();
  // Whole records as they stand, about block_bytes; empty at the end. Moves `at` on.
  Result<Bytes> read_records(LogCursor& at);

 private:
  struct OpenPlace {
    std::unique_ptr<stream::File> file;
    std::uint64_t offset = 0;
  };
  Result<std::optional<OpenPlace>> find(const LogCursor& after);
  Result<std::uint64_t> locate(stream::File& file, std::uint64_t after);

  stream::Disk& disk_;
};

}  // namespace outhaul::audit
