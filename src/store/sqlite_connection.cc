#include "store/sqlite_connection.h"

#include <filesystem>
#include <utility>

#include <sqlite3.h>

namespace outhaul::store {
namespace {

constexpr std::string_view unique_violation = "database: not unique";
// Another process that looks at the file, such as the sqlite3 shell, holds a lock no longer than this.
constexpr int busy_timeout_milliseconds = 5000;

ErrorCode code_for(int primary) {
  switch (primary) {
    case SQLITE_FULL: return ErrorCode::disk_full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::store_corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::data_locked;
    case SQLITE_TOOBIG: return ErrorCode::too_large;
    case SQLITE_NOMEM: return ErrorCode::exhausted;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY: return ErrorCode::unavailable;
    default: return ErrorCode::internal;
  }
}

// SQLite's own message may quote data, so only the meaning of its code is repeated.
Error error_for(int extended) {
  if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return {ErrorCode::conflict, std::string(unique_violation)};
  }
  return Error(code_for(extended & 0xff), std::string("database: ") + sqlite3_errstr(extended))
      .with("sqlite_code", std::to_string(extended));
}

// `path` as a SQLite URI; a name may hold any byte.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri.append("%").append(to_hex(ByteView(&c, 1)));
    } else {
      uri.push_back(c);
    }
  }
  return uri;
}

// Without a log beside it the file is complete by itself, and `immutable` makes SQLite touch nothing.
// With one, the log must be read too: then the connection is exclusive (its index of the log is in
// memory) and does not merge the log into the file when it closes.
std::pair<std::string, int> place_to_examine(const std::string& path) {
  if (std::error_code ignored; std::filesystem::exists(path + "-wal", ignored)) {
    return {uri_of(path), SQLITE_OPEN_READWRITE};
  }
  return {uri_of(path) + "?immutable=1", SQLITE_OPEN_READONLY};
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      parameter_(other.parameter_),
      column_(other.column_),
      bind_failure_(other.bind_failure_) {}

SqliteStatement::~SqliteStatement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  // A large value is not kept alive until the next use.
  sqlite3_clear_bindings(statement_);
}

void SqliteStatement::bind(std::int64_t value) { note(sqlite3_bind_int64(statement_, ++parameter_, value)); }

void SqliteStatement::bind(std::string_view text) {
  // Never NULL: an empty view may have no address.
  const char* start = text.empty() ? "" : text.data();
  note(sqlite3_bind_text64(statement_, ++parameter_, start, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteStatement::bind(std::optional<WallTime> time) {
  if (time) {
    bind(*time);
  } else {
    bind_null();
  }
}

void SqliteStatement::bind_blob(ByteView bytes) {
  const char* start = bytes.empty() ? "" : bytes.data();
  note(sqlite3_bind_blob64(statement_, ++parameter_, start, bytes.size(), SQLITE_TRANSIENT));
}

void SqliteStatement::bind_null() { note(sqlite3_bind_null(statement_, ++parameter_)); }

void SqliteStatement::note(int code) {
  if (code != SQLITE_OK && bind_failure_ == 0) bind_failure_ = code;
}

Result<bool> SqliteStatement::step() {
  if (bind_failure_ != 0) return fail(error_for(bind_failure_));
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(error_for(code));
}

std::int64_t SqliteStatement::integer() { return sqlite3_column_int64(statement_, column_++); }

std::string SqliteStatement::text() {
  const int column = column_++;
  const void* start = sqlite3_column_blob(statement_, column);
  if (start == nullptr) return {};
  return {static_cast<const char*>(start),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<WallTime> SqliteStatement::optional_time() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return time();
}

void SqliteConnection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

void SqliteConnection::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<SqliteConnection> SqliteConnection::open(const std::string& path, Mode mode) {
  std::pair place(uri_of(path), mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
  if (mode == Mode::examine) place = place_to_examine(path);
  sqlite3* database = nullptr;
  const int flags = place.second | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(place.first.c_str(), &database, flags, nullptr);
  // SQLite gives a handle to close even when it fails.
  SqliteConnection connection(database);
  if (code != SQLITE_OK) return fail(error_for(code).during("open"));
  if (auto done = connection.configure(mode); !done) return fail(std::move(done).error().during("open"));
  return connection;
}

Result<void> SqliteConnection::configure(Mode mode) {
  if (mode == Mode::examine) {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return run_script("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = 1; PRAGMA trusted_schema = 0;");
  }
  sqlite3_busy_timeout(database_.get(), busy_timeout_milliseconds);
  // The log belongs to the process that writes.
  if (mode == Mode::copy) {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return run_script("PRAGMA trusted_schema = 0; PRAGMA temp_store = MEMORY;");
  }
  if (mode == Mode::read) {
    return run_script("PRAGMA query_only = 1; PRAGMA trusted_schema = 0; PRAGMA cache_size = -1024;");
  }
  return configure_for_writing();
}

Result<void> SqliteConnection::configure_for_writing() {
  // A checkpoint holds up the commits behind it, and one of a longer log copies pages that are written by
  // every commit less often. What a savepoint can undo is kept in memory (temp_store), not in a file per
  // group. The cache is small: what it lacks is in the system's.
  OUTHAUL_CHECK(run_script(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = 1; PRAGMA trusted_schema "
      "= 0;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048; PRAGMA journal_size_limit = 67108864;"
      "PRAGMA wal_autocheckpoint = 4096;"));
  // SQLite keeps another mode without a word where the file system has no shared memory.
  OUTHAUL_TRY(mode, query("PRAGMA journal_mode"));
  OUTHAUL_TRY(has_row, mode.step());
  if (!has_row || mode.text() != "wal") {
    return fail(ErrorCode::unavailable, "database: this file system cannot hold a write-ahead log");
  }
  return {};
}

Result<SqliteStatement> SqliteConnection::prepare(Sql sql) {
  auto& statement = statements_[sql.text()];
  if (!statement) {
    sqlite3_stmt* fresh = nullptr;
    const int code =
        sqlite3_prepare_v3(database_.get(), sql.text(), -1, SQLITE_PREPARE_PERSISTENT, &fresh, nullptr);
    if (code != SQLITE_OK) return fail(error_for(code));
    statement.reset(fresh);
  }
  return SqliteStatement(*statement);
}

Result<std::uint64_t> SqliteConnection::finish(SqliteStatement& statement) {
  OUTHAUL_TRY(has_row, statement.step());
  while (has_row) {
    OUTHAUL_TRY(next, statement.step());
    has_row = next;
  }
  return static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
}

Result<std::int64_t> SqliteConnection::first_number(SqliteStatement& statement) {
  OUTHAUL_TRY(has_row, statement.step());
  if (!has_row) return fail(ErrorCode::internal, "database: a row was expected");
  return statement.integer();
}

Result<void> SqliteConnection::run_script(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error_for(code));
  return {};
}

bool SqliteConnection::is_in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

bool is_unique_violation(const Error& error) {
  return error.code() == ErrorCode::conflict && error.what() == unique_violation;
}

}  // namespace outhaul::store
