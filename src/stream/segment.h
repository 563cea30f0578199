// SegmentLog: the records of one large stream in files of its own, one after the other. A file's name
// ends with the offset of its first record, so the files of a stream sort by offset:
//   seg-<stream id>-<incarnation>-<offset, 16 hexadecimal digits>
// Files hold encoded records and nothing else. Runs on the disk's strand.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/disk.h"
#include "stream/position.h"
#include "stream/record.h"

namespace outhaul::stream {

inline constexpr std::string_view segment_prefix = "seg-";

// A run of whole encoded records, in order, from the offset that was asked for.
struct ReadChunk {
  std::vector<SharedSlice> slices;  // each holds whole records
  std::size_t bytes = 0;            // encoded, of all slices
  StreamPosition next;              // where the reader stands after them

  void add(const EncodedRecord& record);
};

// Where a file stopped being readable.
struct SegmentCut {
  std::string file;
  std::uint64_t offset = 0;  // in the file
  bool is_damage = false;    // valid records follow: the file was left as it is
  std::string reason;
  std::string moved_to;  // where the whole file was set aside; empty: it is in its place
};

class SegmentLog {
 public:
  // `prefix` is the name up to the last dash, inclusive. The disk outlives this.
  SegmentLog(Disk& disk, std::string prefix, std::uint64_t segment_bytes);
  ~SegmentLog();
  SegmentLog(const SegmentLog&) = delete;
  SegmentLog& operator=(const SegmentLog&) = delete;

  // Takes over the files of an earlier process, sorted by name. Those that end at or before
  // `trusted_until` were durable and are not read through; of the others every whole record is kept and a
  // torn end is cut off. Fails with unavailable.
  enum class Reading { what_is_not_trusted, everything };
  Result<std::vector<SegmentCut>> load(const std::vector<FileEntry>& files, std::uint64_t trusted_until,
                                       Reading reading = Reading::what_is_not_trusted);

  // Appends records (at least one) that follow each other, at end(), all or none; the very first may have any
  // offset. One write for all of them: pieces of 64 KiB cost a quarter more than large ones. Fails with
  // disk_full or unavailable.
  Result<void> append(std::span<const EncodedRecord> records);
  Result<void> append(const EncodedRecord& record) { return append(std::span(&record, 1)); }
  // Makes what was appended before the call durable, oldest file first, and lets the page cache go.
  // A failure is for good. The log may be destroyed meanwhile if the caller shares its ownership.
  Task<Result<void>> sync();

  // Whole records from `from`, which lies in [start(), end()]. The completing record is left out unless asked
  // for. Fails with journal_corrupt (details: file, offset), disk errors.
  Result<ReadChunk> read(std::uint64_t from, std::size_t max_bytes, bool with_completing);

  // Gives up whole files before `up_to` (never the last) and returns their names, to be removed
  // once the journal knows.
  std::vector<std::string> drop(std::uint64_t up_to);
  std::vector<std::string> file_names() const;
  // The file that holds, or would hold, the record at this offset.
  std::string name_at(std::uint64_t offset) const;

  bool is_empty() const { return segments_.empty(); }
  std::uint64_t start() const;
  std::uint64_t end() const { return end_.offset; }
  bool is_complete() const { return end_.complete; }
  // Of the record that completes; only when complete.
  std::uint64_t completing_offset() const { return last_record_; }
  std::uint64_t bytes() const { return bytes_; }
  StreamPosition synced() const { return synced_; }
  std::uint64_t unsynced_bytes() const { return unsynced_bytes_; }
  bool has_failed() const { return has_failed_; }

 private:
  struct Segment;
  struct Wanted;
  using SegmentPtr = std::shared_ptr<Segment>;  // shared with a sync under way

  void note_appended(Segment& segment, const EncodedRecord& record);
  Result<void> begin_segment(std::uint64_t offset);
  Result<SegmentCut> reject(const Segment& segment);
  Result<std::optional<SegmentCut>> scan(Segment& segment);
  Result<std::optional<SegmentCut>> cut_at(Segment& segment, File& file, std::uint64_t place,
                                           const std::string& reason);
  Result<std::shared_ptr<File>> file_of(Segment& segment);
  Result<std::uint64_t> locate(Segment& segment, std::uint64_t offset);
  static std::size_t take_records(const SharedSlice& block, const Wanted& wanted, ReadChunk& chunk);
  Result<bool> read_some(Segment& segment, const Wanted& wanted, ReadChunk& chunk);
  Task<Result<void>> sync_files(std::vector<SegmentPtr> segments);

  Disk& disk_;
  std::string prefix_;
  std::uint64_t segment_bytes_;
  std::uint64_t trusted_until_ = 0;
  std::vector<SegmentPtr> segments_;
  StreamPosition end_;
  std::uint64_t last_record_ = 0;  // offset of the record before end_
  StreamPosition synced_;
  std::uint64_t bytes_ = 0;
  std::uint64_t unsynced_bytes_ = 0;
  bool has_failed_ = false;
};

std::string segment_name_prefix(std::string_view stream_id, const Incarnation& incarnation);
// The stream offset at the end of a segment's name.
std::uint64_t start_in_segment_name(std::string_view name);

}  // namespace outhaul::stream
