// DurableLog: the audit log of a process. Entries are records of the process's commit journal, so they are
// durable with whatever else the next group sync covers and cost no sync of their own. Once a second, when
// there was something, a checkpoint is signed over them, and what is durable moves on into the log's own
// files, whose rare syncs let the journal forget.
//
// The files never run ahead of the journal's durability, so a record that somebody was shown, or whose hash
// was signed, is not lost by a crash. Recovery cuts a torn end of the last file at a whole record, says so in
// an entry, and takes the rest from the journal. Damage before the end is left as it is: the log goes on in a
// new file from the last head that is known, says so, and the verifier keeps naming the place.
//
// When the files together are larger than Config::keep_bytes the oldest go. Before that a signed
// `log.trimmed` names the record before the first one that stays: a beginning that is missing otherwise is a
// fault.
//
//   runs on  the strand of the process
//   life     made before the journal is opened, with it as owner; open() after it; close() before the journal
//            goes. A crash skips close()
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "audit/audit_log.h"
#include "audit/head.h"
#include "audit/journal_types.h"
#include "base/async_clock.h"
#include "base/event.h"
#include "base/random.h"
#include "base/task_group.h"
#include "stream/journal.h"

namespace outhaul::audit {

class DurableLog final : public AuditLog, public stream::JournalOwner {
 public:
  // All outlive the log.
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    Random& random;
    stream::Disk& disk;
    const Log& log;
  };
  struct Config {
    std::string log;  // whose: AuditHead::log
    NamedKey signer;
    Bytes certificate;        // DER, of the signer's key; empty when it has none
    std::uint64_t epoch = 1;  // higher than what the log last saw: it was restored from a backup
    std::uint64_t file_bytes = 16U << 20U;   // a file is followed by the next one past this
    std::uint64_t sync_bytes = 256U << 10U;  // unsynced bytes of a file that the journal keeps too
    std::uint64_t keep_bytes = std::uint64_t{1} << 30U;  // beyond it the oldest files go, and the log says so
    Duration checkpoint_interval = std::chrono::seconds(1);
    bool remembers_recovered = false;  // for has_recovered()
  };
  DurableLog(const Ports& ports, Config config);
  ~DurableLog() override;

  // Before open().
  void set_epoch(std::uint64_t epoch) { config_.epoch = epoch; }
  // Joins what the journal has replayed with the files, and goes on from there.
  //   errors  journal_corrupt: the journal's own records do not follow each other. Those of Disk and Journal
  Task<Result<void>> open(stream::Journal& journal);
  // Signs and files everything, and ends the log's coroutine.
  Task<void> close();

  // AuditLog. Before open() the entries wait in memory.
  Result<void> append(AuditEntry entry) override;
  Task<Result<void>> durable() override;

  // Signs what is not signed and moves it into the files: for whoever is about to read them.
  Task<Result<void>> settle();
  // Set once a sync of the journal or of a file has failed: nothing is claimed any more, and the process must
  // start again.
  Event& failed() { return failed_; }
  // The latest checkpoint that is durable here; empty before the first.
  const Bytes& signed_head() const { return signed_head_; }
  // The latest durable record, signed or not. To be signed by whoever passes it on.
  AuditHead durable_head() const;
  // Whether open() found such an entry, in the journal or the last file. Until forget_recovered().
  bool has_recovered(AuditAction action, const std::string& subject) const {
    return recovered_.contains({std::string(name_of(action)), subject});
  }
  void forget_recovered() { recovered_.clear(); }
  const std::string& name() const { return config_.log; }
  const ChainTip& tip() const { return tip_; }
  const Bytes& incarnation() const { return incarnation_; }

  // stream::JournalOwner
  bool owns(stream::JournalType type) const override;
  Result<void> replay(stream::JournalType type, ByteView payload) override;
  Result<void> write_live(stream::Journal& journal) override;

 private:
  // A record that is not durable in a file yet.
  struct Held {
    Bytes record;
    ChainTip tip;
    stream::JournalPosition written = 0;
  };
  struct Cut {
    std::string file;
    std::uint64_t offset = 0;
    std::string reason;
    bool is_damage = false;
  };

  Result<void> append_record(ChainKind kind, ByteView payload);
  Result<void> append_checkpoint();
  Result<void> append_mark();
  void note_failed_sync();
  Result<void> spare_full_disk(Result<void> written) const;
  Result<std::vector<stream::FileEntry>> list_files() const;
  Result<std::optional<Cut>> read_files();
  bool is_unmarked(const stream::FileEntry& entry) const;
  Result<std::optional<Cut>> read_last_file(const stream::FileEntry& entry);
  Result<std::optional<Cut>> judge_end(const Cut& end);
  Result<void> take_replayed();
  void look_at(const ChainRecord& record);
  Result<void> begin_log();
  Result<void> report(const std::optional<Cut>& cut);
  Result<void> report_changes();
  JournalMark make_mark(ChainTip tip) const;
  Task<void> keep();
  class Settling;
  enum class Files { as_due, synced };
  Task<Result<void>> settle(Files files);
  Task<Result<void>> settle_once();
  Result<void> write_out();
  Result<void> begin_file();
  Task<Result<void>> sync_file();
  Task<Result<void>> trim();
  Result<void> say_trimmed(const ChainTip& before);

  Ports ports_;
  Config config_;
  stream::Journal* journal_ = nullptr;  // null before open()
  Bytes incarnation_;
  ChainTip tip_;           // appended
  ChainTip floor_;         // of the last record that is no longer held
  std::deque<Held> held_;  // oldest first
  std::size_t filed_ = 0;  // of held_, those that stand in the file
  ChainTip filed_tip_;
  std::optional<JournalMark> mark_;  // as last written: what the files hold durably
  std::vector<Bytes> replayed_;
  std::vector<AuditEntry> early_;
  bool has_unsigned_ = false;  // entries since the last checkpoint
  Bytes signed_head_;
  std::set<std::pair<std::string, std::string>> recovered_;  // action and subject
  bool has_failed_ = false;  // a file's sync: what it holds may be lost, so nothing is claimed any more
  std::shared_ptr<stream::File> file_;  // shared with the sync under way when the next file begins
  std::uint64_t unsynced_bytes_ = 0;
  bool has_new_name_ = false;
  bool is_settling_ = false;
  Event settled_;
  Event dirty_;
  Event failed_;
  TaskGroup group_;
};

}  // namespace outhaul::audit
