// StreamStore: every stream of a process, by id. The writer appends, readers read from any offset and
// wait for more, the store makes it durable and takes it back at the next start.
//
// A stream of up to small_stream_bytes lives in the process's Journal and in memory; a larger one in
// segment files of its own, with the last part also in memory for readers that keep up. Memory is
// bounded: past max_memory_bytes, tails are let go and small streams move to segments.
//
// Rules that hold for every reader: records come whole and in order; the record that completes a stream
// is handed out only when it, and so all before it, is durable here.
//
// Order of life: StreamStore store(...); Journal::open(disk, {&store, ...}); co_await
// store.recover(*journal);
// ...; co_await store.close().
// Runs on one strand, the disk's. Nothing here suspends unless it is a Task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/ids.h"
#include "base/task_group.h"
#include "stream/journal.h"
#include "stream/position.h"
#include "stream/record.h"
#include "stream/segment.h"

namespace outhaul::stream {

struct StreamStoreConfig {
  std::uint64_t small_stream_bytes = FileSizes().small_stream_bytes;
  std::uint64_t segment_bytes = FileSizes().segment_bytes;
  std::uint64_t flush_bytes = 8U << 20U;                // unsynced bytes that start a background sync
  std::uint64_t tail_bytes = 1U << 20U;                 // of a large stream, kept in memory for readers
  std::uint64_t max_memory_bytes = 16U << 20U;          // of all streams
  std::uint64_t quota_bytes = std::uint64_t{8} << 30U;  // encoded bytes of all streams on disk
  std::uint64_t free_floor_bytes = 64U << 20U;          // of the disk, left for others
  std::uint64_t reserve_bytes = 1U << 20U;              // file given up so that results fit on a full disk
  bool reads_everything = false;                        // at recovery also what was durable: to check it
};

// What is known of one stream without reading it.
struct StreamTotals {
  Incarnation incarnation;
  std::uint64_t start = 0;             // offsets before this were dropped
  std::uint64_t end = 0;               // the next record's offset
  bool complete = false;               // the completing record is appended
  std::uint64_t completing_bytes = 0;  // its span, the last before `end`
  StreamPosition durable;
  std::uint64_t encoded_bytes = 0;  // held, headers included
  bool is_small = true;             // in the journal; take_small() works once complete
  bool is_damaged = false;          // a segment is damaged; reads past the damage fail
  std::uint64_t released = 0;       // what drop() was told; `start` follows a whole segment at a time
};

// What append_encoded did with a record.
enum class AppendOutcome {
  appended,
  duplicate,  // all of it was there before: ignored
};

struct StreamRecovery {
  std::uint64_t streams = 0;
  std::uint64_t removed_files = 0;  // of streams that the journal says are forgotten or dropped
  std::vector<SegmentCut> cuts;
  // Segments of which the journal knows nothing, by their new names. What was acknowledged is named there, so
  // they are most likely what a power loss left of a forgotten stream; only a person can be sure.
  std::vector<FileEntry> set_aside;
};

struct StreamLog;
struct StreamJournalEntry;

class StreamStore final : public JournalOwner {
 public:
  StreamStore(const Executor& executor, Disk& disk, StreamStoreConfig config = {});
  ~StreamStore() override;
  StreamStore(const StreamStore&) = delete;
  StreamStore& operator=(const StreamStore&) = delete;

  // After Journal::open: reads the segments and joins them with what was replayed. The journal outlives
  // all later calls but close(). Fails with disk_full or unavailable; a damaged segment is no failure
  // (see StreamRecovery).
  Task<Result<void>> recover(Journal& journal);
  const StreamRecovery& recovery() const { return recovery_; }

  // --- the writer's side ---
  // Fails with conflict when the id exists with another incarnation; the same one is accepted again.
  Result<void> create(const StreamId& id, const Incarnation& incarnation);
  // Appends one record at the end and returns it; it is written to the system (not yet durable) and
  // visible to readers. `payload`: 1..max_record_payload_bytes; result and end may be empty and complete
  // the stream. Fails with not_found; conflict (already complete); exhausted (quota) or disk_full: pause
  // and await room(). Records that complete are exempt from quota and floor, and may use the reserve;
  // so are gaps.
  Result<EncodedRecord> append(const StreamId& id, RecordKind kind, WallTime time, ByteView payload);
  // Appends a gap: `missing` bytes that were produced are left out here.
  Result<EncodedRecord> append_gap(const StreamId& id, WallTime time, std::uint64_t missing);
  // Appends a record of another writer as it is. One that begins before the end is cut to what is new.
  // Fails with stream_gap when it begins after the end, conflict when the stream is complete, and as
  // append().
  Result<AppendOutcome> append_encoded(const StreamId& id, const EncodedRecord& record);
  // Appends records of another writer that follow each other from the end on, in one write; those at the
  // front that are there already are left out. After a failure some of the front may be kept: give the same
  // run again. Fails as append_encoded().
  Result<void> append_run(const StreamId& id, std::span<const EncodedRecord> records);
  // The peer holds more than we do (we lost a tail in a crash): gives up all our bytes and goes on at
  // its position. A completing record that was appended meanwhile moves behind it. Does nothing when
  // `position` is not ahead of what comes before that record.
  Result<void> adopt_position(const StreamId& id, StreamPosition position);
  // Gives the reserve's room back to the disk, for another last word (an audit entry, a state) on a full one.
  void release_reserve();
  // Completes when all that was appended before the call is durable; gives how far that is.
  // Fails with not_found, or unavailable when the disk failed (for good).
  Task<Result<StreamPosition>> durable(StreamId id);

  // Set when a sync has failed. Nothing that is appended after it can be claimed to last: only a new process,
  // which reads what is really there, goes on.
  Event& failed() { return failed_; }

  // Whether append() of `bytes` of ordinary records would pass quota and floor now.
  Result<void> check_room(std::uint64_t bytes);
  // Pulsed when room may have come back (something was dropped or forgotten). A full disk is freed by
  // others: look again from time to time.
  Event& room() { return room_; }

  // --- the reader's side ---
  // Whole records from exactly `from` on: a record that `from` falls into is cut, so that every byte
  // comes once. At most `max_bytes` encoded, but at least one record when there is one. An empty chunk:
  // wait_for_more(). Fails with not_found; stream_gap when `from` was dropped (details: start);
  // invalid when `from` is past the end; journal_corrupt in damage; unavailable.
  Result<ReadChunk> read(const StreamId& id, std::uint64_t from, std::size_t max_bytes);
  // Completes when read(id, from, ..) has something to give, also the completing record. Fails with
  // not_found when the stream is not, or no longer, here.
  Task<Result<void>> wait_for_more(StreamId id, std::uint64_t from);
  // How much of the stream was given to no reader yet; 0 when it is not here. A writer that lets this grow
  // past tail_bytes makes its readers read from the disk.
  std::uint64_t unread_bytes(const StreamId& id) const;
  // Completes when at most `bytes` are unread. Fails as wait_for_more().
  Task<Result<void>> wait_for_readers(StreamId id, std::uint64_t bytes);

  // --- life ---
  std::optional<StreamTotals> find(const StreamId& id) const;
  std::vector<StreamId> ids() const;  // sorted
  // All encoded bytes of a complete small stream. Fails with not_found, conflict (not complete),
  // too_large (not small), stream_gap (its front was dropped).
  Result<Bytes> take_small(const StreamId& id) const;
  // The reader holds everything before `up_to` durably: its bytes may go (whole segments do).
  Result<void> drop(const StreamId& id, std::uint64_t up_to);
  // The stream is gone; its files go once the journal knows.
  Result<void> forget(const StreamId& id);

  std::uint64_t disk_bytes() const;
  // Of tails; what waits for the first sync of a stream that grew large comes on top.
  std::uint64_t memory_bytes() const;

  // Waits for background syncs and removals.
  Task<void> close();

  // JournalOwner
  bool owns(JournalType type) const override { return type < first_owner_type; }
  Result<void> replay(JournalType type, ByteView payload) override;
  Result<void> write_live(Journal& journal) override;

 private:
  struct Parts;

  StreamLog* find_log(const StreamId& id) const;
  Result<StreamLog*> need_log(const StreamId& id) const;
  Task<Result<void>> sync(StreamLog& log, JournalPosition journaled);
  Result<void> admit(const StreamLog& log, const EncodedRecord& record);
  Result<void> admit(const StreamLog& log, std::uint64_t ordinary_bytes);
  Result<void> keep(StreamLog& log, std::span<const EncodedRecord> records);
  Result<void> keep_once(StreamLog& log, std::span<const EncodedRecord> records);
  Result<void> append_to_journal(StreamLog& log, const EncodedRecord& record);
  Result<void> note_in_journal(StreamLog& log, JournalType type, ByteView payload);
  Result<void> note_start(StreamLog& log);
  Result<void> move_to_segments(StreamLog& log);
  void note_synced(StreamLog& log);
  void flush_in_background(StreamLog& log);
  void remove_when_durable(std::vector<std::string> names, JournalPosition position);
  void bury(const StreamLog& log);
  Task<void> remove_files(std::vector<std::string> names, JournalPosition position);
  void account(StreamLog& log);
  void shrink_memory();
  // stream_recovery.cc
  Result<void> replay_created(const StreamJournalEntry& entry);
  Result<void> refuse_files(StreamLog& log, std::vector<FileEntry>& files);
  Result<void> load_segments(StreamLog& log, std::vector<FileEntry> files);
  Result<void> join_with_journal(StreamLog& log, SegmentLog& segments);
  Result<std::vector<FileEntry>> take_files_of(const StreamLog& log, std::vector<FileEntry>& files);
  Result<void> remove_forgotten(std::vector<FileEntry>& files);
  Result<void> set_aside_orphans(const std::vector<FileEntry>& files);

  std::unique_ptr<Parts> parts_;
  StreamRecovery recovery_;
  Event room_;
  Event failed_;
};

}  // namespace outhaul::stream
