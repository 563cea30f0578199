#include "main/node_doctor.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>

#include "base/duration_text.h"
#include "base/system_clock.h"
#include "base/time_text.h"
#include "crypto/data_directory.h"
#include "main/doctor_report.h"
#include "main/hub_path_check.h"
#include "main/node_program.h"
#include "main/owner_files.h"
#include "main/run_on_loop.h"
#include "main/stream_directory.h"
#include "node/owner/lock_file.h"
#include "stream/file_disk.h"
#include "stream/journal.h"
#include "stream/scratch_disk.h"

namespace outhaul {
namespace {

using namespace std::chrono_literals;

// Reads every record whole and keeps none.
class AnyRecord final : public stream::JournalOwner {
 public:
  bool owns(stream::JournalType) const override { return true; }
  Result<void> replay(stream::JournalType, ByteView) override { return {}; }
  Result<void> write_live(stream::Journal&) override { return {}; }
};

Task<Result<stream::JournalRecovery>> read_journal_on(stream::Disk& disk) {
  AnyRecord any;
  const stream::JournalConfig must_exist{.must_exist = true};
  OUTHAUL_CO_TRY(journal, co_await stream::Journal::open(disk, {&any}, must_exist));
  co_return journal->recovery();
}

Result<stream::JournalRecovery> read_journal(const std::filesystem::path& directory) {
  OUTHAUL_CHECK(require_stream_directory(directory));
  asio::io_context io(1);
  stream::FileDisk files(io.get_executor(), directory);
  stream::ScratchDisk disk(files);
  return run_on_loop(io, read_journal_on(disk));
}

// Nothing can be said of the journal while its writer is at it.
void check_journal(const std::string& data, DoctorReport& report) {
  const auto held = crypto::DataDirectory::open(data, crypto::DataOwner::node);
  if (!held && held.error().code() == ErrorCode::data_locked) {
    report.ok("process", held.error().what());
    return report.ok("journal", "in use by the running node");
  }
  if (!held) return report.fail("process", held.error());
  report.warn("process", "no node runs here", "Start it: outhaul-node run --data " + data);
  const auto recovery = read_journal(held->file("streams"));
  if (!recovery) return report.fail("journal", recovery.error());
  auto what = fmt::format("{} records in {}", recovery->records, recovery->file);
  if (!recovery->cut_offset) return report.ok("journal", std::move(what));
  report.warn("journal", fmt::format("{}; a torn end at offset {}", what, *recovery->cut_offset),
              "Nothing to do: the next start cuts it.");
}

void check_certificate(const node::Identity& identity, DoctorReport& report) {
  const auto now = SystemClock().wall_now();
  const auto& certificate = identity.certificate();
  const auto what =
      fmt::format("from {} to {}", time_text(certificate.not_before()), time_text(certificate.not_after()));
  if (identity.damage()) {
    report.warn("certificate", identity.damage()->what(), "Nothing to do: the enrolled certificate renews.");
  }
  if (now < certificate.not_before()) {
    return report.fail("certificate", what + ": not yet good", "Set this machine's clock.");
  }
  if (now > certificate.not_after() + 30 * 24h) {
    return report.fail("certificate", what + ": ended more than 30 days ago",
                       "Remove the node at the hub and enrol this machine in a new directory.");
  }
  if (now > certificate.not_after()) {
    return report.warn("certificate", what + ": ended", "Start the node: it renews before it attaches.");
  }
  report.ok("certificate", what);
}

void check_owner_files(const OwnerFiles& files, DoctorReport& report) {
  const auto& settings = files.config.settings;
  report.ok("node.yaml", files.config_path.empty() ? "none: every default holds" : files.config_path);
  if (settings.isolation.empty()) {
    report.warn("isolation", "no level is allowed: no task can run here",
                "Write `isolation: [trusted]` into node.yaml to run tasks without a sandbox.");
  } else {
    report.ok("isolation", "trusted");
  }
  report.ok("policy", settings.policy
                          ? fmt::format("{}: {}", files.policy_path, policy::name_of(settings.policy->mode))
                          : "no policy.yaml: everything runs that `isolation` allows");
  rlimit open_files{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  // A task costs the node some four descriptors.
  if (open_files.rlim_max / 4 < settings.slots) {
    return report.warn(
        "slots", fmt::format("{} slots, but {} open files at most", settings.slots, open_files.rlim_max),
        "Raise the limit (`LimitNOFILE=`, `ulimit -Hn`) or lower `slots`.");
  }
  report.ok("slots", std::to_string(settings.slots));
}

void check_disk(const std::filesystem::path& data, const node::NodeSettings& settings, DoctorReport& report) {
  std::error_code fault;
  const auto space = std::filesystem::space(data, fault);
  if (fault)
    return report.fail("disk", data.string() + ": " + fault.message(), "See that the disk is mounted.");
  const auto what = fmt::format("{} MiB free, the floor is {} MiB", space.available >> 20U,
                                settings.disk_floor_bytes >> 20U);
  const std::string remedy = "Free some space, or lower `disk_floor_mib`.";
  if (space.available < settings.disk_floor_bytes)
    return report.fail("disk", what + ": no task is taken", remedy);
  if (space.available < 2 * settings.disk_floor_bytes) return report.warn("disk", what, remedy);
  report.ok("disk", what);
}

void check_lock(const std::filesystem::path& data, DoctorReport& report) {
  const auto notice = node::LockFile(data).load();
  if (!notice) return report.fail("lock", notice.error());
  if (!*notice) return report.ok("lock", "not locked");
  // One that cannot be read locks as well.
  const auto since = (*notice)->since;
  const auto when = since == WallTime() ? std::string("at an unknown time") : "at " + time_text(since);
  report.warn("lock", "locked by its owner " + when + ": nothing runs",
              "outhaul-node unlock --data " + data.string());
}

void check_launcher(DoctorReport& report) {
  const auto program = launcher_program();
  if (::access(program.c_str(), X_OK) == 0) return report.ok("launcher", program.string());
  report.fail("launcher", program.string() + ": no such program, or not executable",
              "Put outhaul-launcher of the same version beside outhaul-node.");
}

void check_directory(const crypto::DataDirectory& data, const DoctorOptions& options, DoctorReport& report) {
  check_journal(options.data, report);
  check_launcher(report);
  check_lock(data.path(), report);
  const auto files = load_owner_files(data.path(), options.config_file);
  if (!files) {
    report.fail("node.yaml", files.error());
  } else {
    check_owner_files(*files, report);
    check_disk(data.path(), files->config.settings, report);
  }
  const auto identity = node::Identity::load(data);
  if (!identity) return report.fail("identity", identity.error());
  report.ok("identity",
            fmt::format("{} of {}", identity->enrolment().node.text(), identity->enrolment().deployment));
  check_certificate(*identity, report);
  std::string address = identity->enrolment().hub;
  if (files && !files->config.hub.empty()) address = files->config.hub;
  if (!options.hub.empty()) address = options.hub;
  const auto hub = http::parse_url(address);
  if (!hub) return report.fail("dns", hub.error());
  check_path_to_hub(*hub, *identity, report);
}

}  // namespace

int examine_node(const DoctorOptions& options) {
  DoctorReport report;
  const auto data = crypto::DataDirectory::look(options.data, crypto::DataOwner::node);
  if (!data) {
    report.fail("directory", data.error());
  } else {
    report.ok("directory", data->path().string());
    check_directory(*data, options, report);
  }
  fmt::print("{}\n", options.json ? report.json() : report.text());
  return report.has_failed() ? 1 : 0;
}

}  // namespace outhaul
