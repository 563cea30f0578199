// Journal: the one commit log of a process. Owners append typed records and await their durability;
// all of them share one group sync, without artificial delay.
//
// Files: journal-<generation>. Each starts with a header and a checkpoint (everything that was live),
// closed by a mark; a file whose checkpoint is not whole counts for nothing, and the one before it is
// removed only when its successor is durable.
//
// Recovery keeps every whole record. A torn end is cut and its offset reported. A bad record that
// valid ones follow is damage: open() fails with journal_corrupt, names file and offset, and leaves
// the file as it is.
//
// A failed append leaves the journal usable (disk_full passes); a failed sync poisons it for good:
// what the system has dropped cannot be claimed later.
//
// Runs on one strand, the disk's.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stream/disk.h"
#include "stream/file_sizes.h"
#include "stream/journal_frame.h"

namespace outhaul::stream {

// A place in the journal's life: bytes appended since open() when the record ended. Only rises.
using JournalPosition = std::uint64_t;

// 1..31 belong to StreamStore, 32..255 to the owner of the process's other durable state.
using JournalType = std::uint8_t;
inline constexpr JournalType first_owner_type = 32;

class Journal;

// A part of the process whose state is in the journal.
// The rule that makes checkpoints safe: between an append and the change of memory that it records
// there is no suspension, so that at every suspension write_live() can give all that was appended and
// is still needed, durable or not.
class JournalOwner {
 public:
  virtual ~JournalOwner() = default;
  // True for the types that this owner appends.
  virtual bool owns(JournalType type) const = 0;
  // One record of an earlier process, in the order of its append. A failure stops open().
  virtual Result<void> replay(JournalType type, ByteView payload) = 0;
  // Appends records whose replay() rebuilds the present state. Must not suspend.
  virtual Result<void> write_live(Journal& journal) = 0;
};

struct JournalRecovery {
  std::uint64_t records = 0;
  std::string file;                         // the one that was read; empty: a new journal
  std::optional<std::uint64_t> cut_offset;  // bytes from here on were no whole record and are gone
  std::uint64_t cut_bytes = 0;
  std::string reason;  // of the cut
};

struct JournalConfig {
  // The directory was made with its journal: one without is damaged, and none is made in its place. Also
  // without this a directory that holds any other file has been in use.
  bool must_exist = false;
  std::uint64_t min_checkpoint_bytes =
      FileSizes().checkpoint_bytes;  // a file is rewritten past max(this, 2 x live)
};

class Journal {
 public:
  // Reads what is there into the owners, cuts a torn end, and is ready to append. Disk and owners
  // outlive the journal. A type that nobody owns is journal_corrupt: it may be state of a newer version. So
  // is a journal that is missing or empty where one must be; nothing is made or changed then.
  // Fails with journal_corrupt, data_format_newer, disk_full, unavailable.
  static Task<Result<std::unique_ptr<Journal>>> open(Disk& disk, std::vector<JournalOwner*> owners,
                                                     JournalConfig config = {});
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const JournalRecovery& recovery() const { return recovery_; }

  // Appends one record, written to the system when it returns. At most max_journal_payload_bytes.
  // Fails with disk_full (nothing was appended; try later) or unavailable (also when poisoned).
  Result<JournalPosition> append(JournalType type, std::span<const ByteView> parts);
  Result<JournalPosition> append(JournalType type, ByteView payload) { return append(type, {&payload, 1}); }

  // Completes when everything up to `position` is durable. Concurrent callers share one sync.
  // Fails with unavailable when the journal is poisoned.
  Task<Result<void>> durable(JournalPosition position);
  JournalPosition appended() const { return appended_; }
  JournalPosition durable_position() const { return durable_; }
  bool is_poisoned() const { return is_poisoned_; }

  // Bytes of the current file.
  std::uint64_t file_bytes() const;
  // Rewrites what is live into a new file; durable() does this by itself when the file has grown past
  // its limit. Old files go once the new one is durable. On failure the journal goes on in the old file.
  Result<void> checkpoint();

 private:
  struct CurrentFile;

  Journal(Disk& disk, std::vector<JournalOwner*> owners, JournalConfig config);
  Task<Result<void>> recover();
  Task<Result<void>> make_first();
  Result<void> replay(const std::vector<JournalFrame>& frames);
  Result<std::shared_ptr<CurrentFile>> create_file(std::uint64_t generation);
  Result<void> fill_checkpoint();
  Task<Result<void>> sync_current();
  void remove_files_before(std::uint64_t generation);

  Disk& disk_;
  std::vector<JournalOwner*> owners_;
  JournalConfig config_;
  JournalRecovery recovery_;
  std::shared_ptr<CurrentFile> current_;  // shared with syncs under way across a checkpoint
  JournalPosition appended_ = 0;
  JournalPosition durable_ = 0;
  bool is_poisoned_ = false;
};

}  // namespace outhaul::stream
