#include "store/sqlite_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "store/migrations/migrations.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {
namespace {

struct AppliedMigration {
  std::int64_t number = 0;
  std::string sha256;
};

AppliedMigration read_migration(SqliteStatement& in) {
  AppliedMigration applied;
  applied.number = in.integer();
  applied.sha256 = in.text();
  return applied;
}

std::string read_text(SqliteStatement& in) { return in.text(); }

std::unexpected<Error> corrupt(const std::string& what) {
  return fail(ErrorCode::store_corrupt, what + "; it was left untouched, see docs/runbooks/store-corrupt.md");
}

std::unexpected<Error> foreign(const std::string& what) {
  return fail(ErrorCode::store_foreign, what + "; it was left untouched, see docs/runbooks/store-foreign.md");
}

// 0 for a file that is not there.
std::uint64_t size_of(const std::string& path) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  return failure ? 0 : size;
}

// SQLite takes a file of a few bytes for an empty database, whatever they are.
bool has_sqlite_header(const std::string& path) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::array<char, magic.size()> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file && std::string_view(start.data(), start.size()) == magic;
}

Result<void> expect_database_file(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure))
    return corrupt("the database file is missing: nothing is recreated");
  if (size_of(path) == 0) return corrupt("the database file is empty");
  if (!has_sqlite_header(path)) return corrupt("the database file is none: its header is damaged");
  // Ours never has one once it is made: opening the file would roll it back, and so change it.
  if (size_of(path + "-journal") != 0)
    return corrupt("an unfinished rollback journal lies beside the database");
  return {};
}

Result<bool> is_blank(SqliteConnection& connection) {
  OUTHAUL_TRY(objects, connection.number("SELECT count(*) FROM sqlite_schema"));
  OUTHAUL_TRY(application, connection.number("PRAGMA application_id"));
  return objects == 0 && application == 0;
}

Result<void> expect_own_application(SqliteConnection& connection) {
  OUTHAUL_TRY(blank, is_blank(connection));
  if (blank) return corrupt("the database is blank: its `init` did not end, run it again");
  OUTHAUL_TRY(application, connection.number("PRAGMA application_id"));
  if (application != sqlite_application_id) return foreign("the database was made by another program");
  return {};
}

// SQLite reads what a file lacks of its last page as zeros. Beside a log the file may be in the middle of a
// checkpoint.
Result<void> expect_whole_pages(SqliteConnection& connection, const std::string& path) {
  OUTHAUL_TRY(page, connection.number("PRAGMA page_size"));
  const bool is_whole = size_of(path) % static_cast<std::uint64_t>(page) == 0;
  if (is_whole || size_of(path + "-wal") != 0) return {};
  return corrupt("the database file is cut: its last page is not whole");
}

// Gives whether the whole file was looked at.
Result<bool> expect_sound(SqliteConnection& connection, const std::string& path) {
  OUTHAUL_CHECK(expect_whole_pages(connection, path));
  const bool is_whole = size_of(path) + size_of(path + "-wal") <= max_wholly_checked_bytes;
  OUTHAUL_TRY(faults, read_all(is_whole ? connection.query("PRAGMA quick_check(1)")
                                        : connection.query("PRAGMA quick_check('migrations')"),
                               read_text));
  if (faults.size() != 1 || faults.front() != "ok") return corrupt("the database file is damaged");
  return is_whole;
}

// How many migrations of ours the database has.
Result<int> expect_own_chain(SqliteConnection& connection) {
  OUTHAUL_TRY(tables, connection.number(
                          "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"));
  if (tables == 0) return foreign("the database has no chain of migrations");
  OUTHAUL_TRY(applied, read_all(connection.query("SELECT number, sha256 FROM migrations ORDER BY number"),
                                read_migration));
  const auto ours = migrations();
  for (std::size_t i = 0; i < std::min(applied.size(), ours.size()); ++i) {
    if (applied[i].number != ours[i].number || applied[i].sha256 != ours[i].sha256) {
      return foreign("the database has a migration " + std::to_string(applied[i].number) +
                     " that is not ours");
    }
  }
  if (applied.size() > ours.size()) {
    return fail(ErrorCode::data_format_newer,
                "the database has " + std::to_string(applied.size()) + " migrations, this version knows " +
                    std::to_string(ours.size()) +
                    "; it was left untouched, see docs/runbooks/store-foreign.md");
  }
  return static_cast<int>(applied.size());
}

Result<Deployment> expect_own_deployment(SqliteConnection& connection, const std::string& name) {
  SqliteDeploymentStore store(connection);
  OUTHAUL_TRY(deployment, store.load());
  if (deployment.name != name) return foreign("the database belongs to another deployment");
  return std::move(deployment);
}

Result<SqliteReport> examine(const SqliteLocation& location) {
  OUTHAUL_TRY(connection, SqliteConnection::open(location.path, SqliteConnection::Mode::examine));
  OUTHAUL_CHECK(expect_own_application(connection));
  OUTHAUL_TRY(is_whole, expect_sound(connection, location.path));
  OUTHAUL_TRY(applied, expect_own_chain(connection));
  OUTHAUL_TRY(deployment, expect_own_deployment(connection, location.deployment));
  return SqliteReport{.deployment = std::move(deployment),
                      .migrations_applied = applied,
                      .migrations_pending = static_cast<int>(migrations().size()) - applied,
                      .was_checked_whole = is_whole};
}

Result<void> apply(SqliteConnection& connection, const Migration& migration, WallTime now) {
  if (auto done = connection.run_script(migration.sql); !done) {
    return fail(std::move(done).error().during("migration " + std::to_string(migration.number)));
  }
  OUTHAUL_CHECK(
      connection.change("INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?,?,?,?)",
                        std::int64_t{migration.number}, migration.name, migration.sha256, now));
  return {};
}

Result<void> apply_missing(SqliteConnection& connection, int migrations_applied, WallTime now) {
  for (const auto& migration : migrations().subspan(static_cast<std::size_t>(migrations_applied))) {
    OUTHAUL_CHECK(apply(connection, migration, now));
  }
  return {};
}

// All or nothing, and durable when it holds.
template <class Steps>
Result<void> in_transaction(SqliteConnection& connection, Steps steps) {
  OUTHAUL_CHECK(connection.run_script("BEGIN IMMEDIATE"));
  auto done = steps();
  if (done) done = connection.run_script("COMMIT");
  if (!done && connection.is_in_transaction()) static_cast<void>(connection.run_script("ROLLBACK"));
  return done;
}

Result<void> bind_to_deployment(SqliteConnection& connection, const std::string& name, WallTime now) {
  OUTHAUL_CHECK(apply_missing(connection, 0, now));
  OUTHAUL_CHECK(connection.change(
      "INSERT INTO deployment (only_row, name, hub_epoch, created_at) VALUES (1, ?, 1, ?)", name, now));
  // 0x4f48554c, in decimal because a pragma takes no parameter.
  return connection.run_script("PRAGMA application_id = 1330140492");
}

// The directory entry must be as durable as the file.
Result<void> sync_directory_of(const std::string& path) {
  const auto directory = std::filesystem::absolute(path).parent_path();
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!is_synced) return fail(ErrorCode::unavailable, "the database's directory cannot be synced");
  return {};
}

// Makes an empty file for the owner alone; one that exists must be empty or blank.
Result<void> claim_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return fail(ErrorCode::unavailable, "the database file cannot be made");
  ::close(descriptor);
  const auto taken =
      fail(ErrorCode::conflict, "the database file holds something already; it was left untouched");
  // An empty file with a log beside it would come to life with what the log holds.
  if (size_of(path) == 0 && size_of(path + "-wal") == 0) return {};
  if (!has_sqlite_header(path)) return taken;
  auto connection = SqliteConnection::open(path, SqliteConnection::Mode::examine);
  if (!connection) return taken;
  const auto blank = is_blank(*connection);
  if (!blank || !*blank) return taken;
  return {};
}

}  // namespace

Result<void> make_sqlite_file(const SqliteLocation& location, WallTime now) {
  OUTHAUL_CHECK(claim_file(location.path));
  OUTHAUL_TRY(connection, SqliteConnection::open(location.path, SqliteConnection::Mode::write));
  OUTHAUL_CHECK(
      in_transaction(connection, [&] { return bind_to_deployment(connection, location.deployment, now); }));
  // From here on the file says by itself whose it is, also when its log is lost.
  OUTHAUL_CHECK(connection.run_script("PRAGMA wal_checkpoint(TRUNCATE)"));
  return sync_directory_of(location.path);
}

Result<SqliteReport> examine_sqlite_file(const SqliteLocation& location) {
  OUTHAUL_CHECK(expect_database_file(location.path));
  auto report = examine(location);
  if (report || report.error().code() != ErrorCode::store_corrupt) return report;
  // Damage that a statement met (it carries SQLite's code) gets the same words as damage that we looked for.
  if (report.error().details().empty()) return report;
  return corrupt("the database file is damaged");
}

Result<void> migrate(SqliteConnection& connection, int migrations_applied, WallTime now) {
  if (static_cast<std::size_t>(migrations_applied) == migrations().size()) return {};
  return in_transaction(connection, [&] { return apply_missing(connection, migrations_applied, now); });
}

}  // namespace outhaul::store
