// outhaul-hub backup: a consistent copy of a hub's data directory, also while it serves.
//
// The order makes it consistent (docs/decisions/0110-*.md): first the rows, in one snapshot; then the
// journal; then everything else in streams/, where segments of output and the files of the audit log only
// grow. So whatever a row names is in what is copied after it.
#include <sys/stat.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/system_clock.h"
#include "base/time_text.h"
#include "crypto/data_files.h"
#include "http/json_writer.h"
#include "hub/backup_manifest.h"
#include "hub/hub_data.h"
#include "main/file_copy.h"
#include "main/hub_parts.h"
#include "main/stream_directory.h"
#include "store/sqlite_snapshot.h"

namespace outhaul {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view journal_prefix = "journal-";
// Room that is held for a full disk, and is worth nothing elsewhere.
constexpr std::string_view reserve_file = "reserve";
// A journal that changes its file while it is copied is copied again; it does so once in many megabytes.
constexpr int journal_attempts = 20;

bool is_journal(const std::string& name) { return name.starts_with(journal_prefix); }

// Sorted.
Result<std::vector<std::string>> names_in(const fs::path& directory) {
  std::error_code fault;
  std::vector<std::string> names;
  for (fs::directory_iterator at(directory, fault); !fault && at != fs::directory_iterator();
       at.increment(fault))
    names.push_back(at->path().filename().string());
  if (fault) return fail(ErrorCode::unavailable, directory.string() + ": " + fault.message());
  std::ranges::sort(names);
  return names;
}

Result<std::vector<std::string>> journals_in(const fs::path& directory) {
  OUTHAUL_TRY(names, names_in(directory));
  std::erase_if(names, [](const std::string& name) { return !is_journal(name); });
  return std::move(names);
}

class BackupMaker {
 public:
  BackupMaker(const crypto::DataDirectory& data, fs::path to) : data_(data), to_(std::move(to)) {}
  // Errors of the files; what was made before one stays behind, without a manifest.
  Result<hub::BackupManifest> make(const hub::HubIdentity& identity, WallTime now);

 private:
  fs::path streams() const { return data_.file(hub::streams_directory); }
  Result<void> copy(const std::string& name);
  Result<void> copy_rows(const std::string& deployment);
  Result<void> copy_journal();
  Result<bool> try_to_copy_journal(const std::vector<std::string>& names);
  Result<void> copy_rest_of_streams();
  static std::string in_streams(const std::string& name) {
    return std::string(hub::streams_directory) + "/" + name;
  }

  const crypto::DataDirectory& data_;
  fs::path to_;
  hub::BackupManifest manifest_;
};

Result<hub::BackupManifest> BackupMaker::make(const hub::HubIdentity& identity, WallTime now) {
  manifest_.deployment = identity.deployment;
  manifest_.made_at = now;
  OUTHAUL_CHECK(require_stream_directory(streams()));
  OUTHAUL_CHECK(make_private_directory(to_));
  OUTHAUL_CHECK(make_private_directory(to_ / hub::streams_directory));
  OUTHAUL_CHECK(copy_rows(identity.deployment));
  OUTHAUL_CHECK(copy_journal());
  OUTHAUL_CHECK(copy_rest_of_streams());
  for (const auto name : hub::identity_files()) OUTHAUL_CHECK(copy(std::string(name)));
  OUTHAUL_CHECK(sync_names_in(to_ / hub::streams_directory));
  OUTHAUL_CHECK(
      crypto::write_private_file(to_ / hub::backup_manifest_file, hub::serialise_backup_manifest(manifest_)));
  return std::move(manifest_);
}

Result<void> BackupMaker::copy(const std::string& name) {
  OUTHAUL_TRY(copied, copy_and_sum(data_.path() / name, to_ / name));
  copied.name = name;
  manifest_.files.push_back(std::move(copied));
  return {};
}

Result<void> BackupMaker::copy_rows(const std::string& deployment) {
  const auto target = to_ / hub::database_file;
  OUTHAUL_CHECK(store::copy_sqlite(data_.file(hub::database_file).string(), target.string()));
  if (::chmod(target.c_str(), S_IRUSR | S_IWUSR) != 0) {
    return fail(ErrorCode::unavailable, "set the mode of " + target.string());
  }
  // Proves the copy too.
  OUTHAUL_TRY(report, store::check_sqlite({target.string(), deployment}));
  manifest_.epoch = report.deployment.hub_epoch;
  OUTHAUL_TRY(summed, sum_of(target));
  summed.name = hub::database_file;
  manifest_.files.push_back(std::move(summed));
  return {};
}

// A file of the journal goes only when its successor is whole: the names being the same before and after,
// what was copied is a journal as a crash would leave it.
Result<void> BackupMaker::copy_journal() {
  for (int attempt = 0; attempt < journal_attempts; ++attempt) {
    OUTHAUL_TRY(names, journals_in(streams()));
    OUTHAUL_TRY(is_copied, try_to_copy_journal(names));
    OUTHAUL_TRY(names_after, journals_in(streams()));
    if (is_copied && names == names_after) return {};
    for (const auto& name : names) {
      std::error_code ignored;
      fs::remove(to_ / in_streams(name), ignored);
      std::erase_if(manifest_.files, [&](const auto& file) { return file.name == in_streams(name); });
    }
  }
  return fail(ErrorCode::unavailable, "the journal changes its files faster than they can be copied");
}

// False: one is gone already.
Result<bool> BackupMaker::try_to_copy_journal(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto copied = copy(in_streams(name));
    if (!copied && copied.error().code() == ErrorCode::not_found) return false;
    OUTHAUL_CHECK(copied);
  }
  return true;
}

Result<void> BackupMaker::copy_rest_of_streams() {
  OUTHAUL_TRY(names, names_in(streams()));
  for (const auto& name : names) {
    if (is_journal(name) || name == reserve_file) continue;
    const auto copied = copy(in_streams(name));
    // Input that its node has taken, or the oldest of the audit log: the journal knows of both.
    if (!copied && copied.error().code() != ErrorCode::not_found) return copied;
  }
  return {};
}

void print_backup(const hub::BackupManifest& made, const HubOptions& options) {
  std::uint64_t bytes = 0;
  for (const auto& file : made.files) bytes += file.bytes;
  if (options.json) {
    http::JsonWriter json;
    json.begin_object().field("deployment", made.deployment).field("made_at", time_text(made.made_at));
    json.field("epoch", made.epoch).field("files", made.files.size()).field("bytes", bytes).end_object();
    fmt::print("{}\n", std::move(json).take_text());
    return;
  }
  fmt::print("backup of {} in {}: {} files, {} bytes\n", made.deployment, options.to, made.files.size(),
             bytes);
  fmt::print("It holds the deployment's keys: whoever reads it is the hub. Keep it encrypted.\n");
}

}  // namespace

int backup_hub(const HubOptions& options) {
  SystemClock clock;
  // Beside a hub that serves, and else under its lock, so that none starts meanwhile.
  auto data = crypto::DataDirectory::open(options.data, crypto::DataOwner::hub);
  if (!data && data.error().code() == ErrorCode::data_locked) {
    data = crypto::DataDirectory::look(options.data, crypto::DataOwner::hub);
  }
  if (!data) return report_fault(before_init(std::move(data).error(), options.data));
  const auto identity = hub::load_identity(*data);
  if (!identity) return report_fault(identity.error());
  const auto made = BackupMaker(*data, options.to).make(*identity, clock.wall_now());
  if (!made) return report_fault(made.error());
  print_backup(*made, options);
  return 0;
}

}  // namespace outhaul
