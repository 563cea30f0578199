// LogFiles: the files of a process's streams directory, read only and whole, for checks that need no process:
// of a directory on this machine, of a copy on another, of a simulated disk.
#pragma once

#include <filesystem>
#include <vector>

#include "audit/journal_types.h"
#include "audit/verifier.h"
#include "audit/witness_book.h"
#include "stream/disk.h"

namespace outhaul::audit {

class LogFiles {
 public:
  virtual ~LogFiles() = default;
  // Names, sorted. Fails with not_found or unavailable.
  virtual Result<std::vector<std::string>> list() = 0;
  virtual Result<Bytes> read(const std::string& name) = 0;
};

class DirectoryFiles final : public LogFiles {
 public:
  explicit DirectoryFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}
  Result<std::vector<std::string>> list() override;
  Result<Bytes> read(const std::string& name) override;

 private:
  std::filesystem::path directory_;
};

class DiskFiles final : public LogFiles {
 public:
  explicit DiskFiles(stream::Disk& disk) : disk_(disk) {}
  Result<std::vector<std::string>> list() override;
  Result<Bytes> read(const std::string& name) override;

 private:
  stream::Disk& disk_;
};

// What a process's journal says of audit logs.
struct JournalView {
  std::vector<Bytes> records;  // of its own log, that may not stand in the log's files yet
  std::optional<JournalMark> mark;
  std::vector<WitnessBook::Witness> witnesses;  // of the logs of others
};
// Reads the newest journal file that counts. A torn end is none of its business.
// Fails with journal_corrupt and as LogFiles.
Result<JournalView> read_journal_view(LogFiles& files);

// Verifies the log in these files up to its last record in the journal.
// Fails as LogFiles; a log that is not whole is no failure.
Result<LogReport> check_log(LogFiles& files, const JournalView& journal, ChainVerifier::Config config);

// The heads of `log` among what others hold, for ChainVerifier::Config::witnessed.
struct HeldHeads {
  std::string holder;
  std::vector<WitnessBook::Witness> witnesses;
};
std::vector<Witnessed> heads_of(const std::string& log, const std::vector<HeldHeads>& held);

// Whose log stands in these files; empty when there is none that can be read.
std::string find_log_name(LogFiles& files, const JournalView& journal);

}  // namespace outhaul::audit
