// ChainVerifier: reads one log from its first record on and says whether every record is what was written, in
// its place, up to the newest signed head that anybody holds of it; if not, where it first is not.
// Pure; no strand. Memory: one record.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_entry.h"
#include "audit/head.h"

namespace outhaul::audit {

// A place and what is wrong there.
struct Finding {
  std::string file;            // empty: the log as a whole
  std::uint64_t offset = 0;    // in the file
  std::uint64_t sequence = 0;  // of the record that should stand there
  std::string what;
  bool operator==(const Finding&) const = default;
};

// A head of this log in other hands, and whose.
struct Witnessed {
  std::string holder;  // "hub:<deployment>", a node's id, "receipt of task_…", "the journal"
  AuditHead head;
  // Exactly as signed; it counts only when a key of the log has signed it. Empty: the caller vouches for it.
  Bytes evidence;
};

struct LogReport {
  std::string log;
  Bytes incarnation;
  Bytes public_key;   // of the signer that the log names, the latest
  Bytes certificate;  // of the first one; empty when it has none
  std::uint64_t files = 0;
  std::uint64_t entries = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t unsigned_records = 0;  // after the last checkpoint: what a crash leaves
  std::uint64_t witnessed_until = 0;   // the highest sequence that a head in other hands confirms
  ChainTip tip;
  std::vector<Finding> findings;  // empty: the log is whole
  std::vector<Finding> notices;   // what a reader should know and is no fault
  bool is_whole() const { return findings.empty(); }
};

class ChainVerifier {
 public:
  struct Config {
    std::string log;  // whose it must be; empty: whoever it says
    // That may have signed its checkpoints; none: those that the log names itself, which the reader has to
    // compare with what it knows (LogReport::public_key).
    std::vector<crypto::TrustedKey> keys;
    std::vector<Witnessed> witnessed;
  };
  explicit ChainVerifier(Config config);

  // Where the first record stands when the log's beginning may be gone: `place` is what is named when the log
  // does not say that it let it go. Before anything is read.
  void begin_after(const LogFileHeader& front, const std::string& place);
  // A file of the log, in the order of their names, whole. What follows a fault is not looked at.
  void read_file(const std::string& name, ByteView bytes);
  // Records without a file header: an exported log piece by piece, or what stands only in a journal. They may
  // be cut anywhere; `offset` is where they begin. Gives how many bytes were read: whole records.
  std::size_t read_records(const std::string& name, std::uint64_t offset, ByteView bytes);
  // A record of a journal, which may stand in the files too.
  void read_journaled(ByteView record);
  // The process itself wrote down that its files durably hold this record: after the files, before its
  // journal.
  void expect(const ChainTip& marked);
  // Nothing more comes: `left_over` bytes at the end were no whole record.
  void finish(std::size_t left_over = 0);

  const LogReport& report() const { return report_; }
  // Known once the log's own were read.
  std::span<const crypto::TrustedKey> keys() const { return config_.keys; }

 private:
  struct Place {
    const std::string& file;
    std::uint64_t offset;
  };
  struct Restore {
    std::uint64_t sequence = 0;
    WallTime time;
  };
  void take(const ChainRecord& record, const Place& place);
  void take_start(ByteView payload, const Place& place);
  void take_entry(ByteView payload, const Place& place);
  void take_trim(const AuditEntry& entry);
  void take_key(ByteView public_key);
  void take_checkpoint(ByteView payload, const Place& place);
  void check_beginning();
  void check_last_signature();
  void check_witnesses();
  void check_unreached();
  void fault(const Place& place, std::string what);
  bool is_declared_lost(const Witnessed& witnessed) const;
  bool is_proven(const Witnessed& witnessed) const;

  Config config_;
  LogReport report_;
  std::multimap<std::uint64_t, Witnessed> expected_;  // by sequence, those still to come
  std::vector<Restore> restores_;
  std::vector<Witnessed> missed_;  // the log goes on otherwise than these say
  bool is_broken_ = false;
  bool takes_named_keys_ = false;
  std::optional<ChainTip> missing_until_;  // the log's beginning is gone, and nothing read so far says why
  std::string first_place_;
  std::string last_file_;
  std::uint64_t last_file_bytes_ = 0;
  Bytes last_checkpoint_;  // its signature covers all before it
  Finding last_checkpoint_place_;
};

}  // namespace outhaul::audit
