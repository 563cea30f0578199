// SqliteConnection: one open database file and its prepared statements. Used by one thread at a time.
// SQL is only ever a literal of this program and data is only ever bound.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"

struct sqlite3;
struct sqlite3_stmt;

namespace outhaul::store {

// The text of a statement. Only a literal converts, so that no data can become SQL.
class Sql {
 public:
  consteval Sql(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  const char* text() const { return text_; }

 private:
  const char* text_;
};

// A prepared statement with its values bound, borrowed from its connection until destroyed.
class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt& statement) : statement_(&statement) {}
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&&) = delete;
  ~SqliteStatement();

  // Each binds the next parameter: ?1, ?2, …
  void bind(std::int64_t value);
  void bind(std::string_view text);
  void bind(WallTime time) { bind(time.nanoseconds); }
  void bind(std::optional<WallTime> time);
  template <class Kind>
  void bind(const Id<Kind>& id) {
    bind(std::string_view(id.text()));
  }
  void bind_blob(ByteView bytes);
  void bind_null();

  // True: there is a row, whose columns are read in order. False: there are no more.
  Result<bool> step();
  std::int64_t integer();
  std::string text();
  Bytes blob() { return text(); }
  WallTime time() { return WallTime{integer()}; }
  std::optional<WallTime> optional_time();
  template <class AnyId>
  AnyId id() {
    return AnyId::assume(text());
  }

 private:
  void note(int code);
  sqlite3_stmt* statement_;
  int parameter_ = 0;
  int column_ = 0;
  int bind_failure_ = 0;
};

// Marks a value that is bound as bytes and not as text.
struct Blob {
  ByteView bytes;
};

class SqliteConnection {
 public:
  enum class Mode {
    write,    // the file must exist (see sqlite_file.h)
    read,     // beside a writer of the same process
    copy,     // beside a writer of another process; for VACUUM INTO, which `read` forbids
    examine,  // changes no byte; nobody else has the file open
  };
  static Result<SqliteConnection> open(const std::string& path, Mode mode);

  // A statement with `values` bound, ready to step.
  template <class... Values>
  Result<SqliteStatement> query(Sql sql, const Values&... values) {
    OUTHAUL_TRY(statement, prepare(sql));
    (bind_one(statement, values), ...);
    return std::move(statement);
  }
  // Runs a statement to its end; gives how many rows it changed.
  template <class... Values>
  Result<std::uint64_t> change(Sql sql, const Values&... values) {
    OUTHAUL_TRY(statement, query(sql, values...));
    return finish(statement);
  }
  // The first column of the first row; an empty result is `internal`.
  template <class... Values>
  Result<std::int64_t> number(Sql sql, const Values&... values) {
    OUTHAUL_TRY(statement, query(sql, values...));
    return first_number(statement);
  }
  // Runs several statements without parameters, not cached.
  Result<void> run_script(const char* sql);
  // False also after a failure made SQLite roll back by itself.
  bool is_in_transaction() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit SqliteConnection(sqlite3* database) : database_(database) {}
  Result<void> configure(Mode mode);
  Result<void> configure_for_writing();
  Result<SqliteStatement> prepare(Sql sql);
  Result<std::uint64_t> finish(SqliteStatement& statement);
  static Result<std::int64_t> first_number(SqliteStatement& statement);
  template <class Value>
  static void bind_one(SqliteStatement& statement, const Value& value) {
    statement.bind(value);
  }
  static void bind_one(SqliteStatement& statement, Blob value) { statement.bind_blob(value.bytes); }
  static void bind_one(SqliteStatement& statement, std::nullopt_t) { statement.bind_null(); }

  std::unique_ptr<sqlite3, Close> database_;
  // By the literal's address: cheaper than its text, and a literal that exists twice costs one more.
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// True for a violated uniqueness, which the stores report as their own `conflict`.
bool is_unique_violation(const Error& error);

}  // namespace outhaul::store
