// The database file itself: made once, examined before each use, migrated forward. Whatever is wrong
// with it, it is left as it was found.
#pragma once

#include "base/clock.h"
#include "store/sqlite_connection.h"
#include "store/sqlite_database.h"

namespace outhaul::store {

// "OHUL": marks the file as ours, in SQLite's header.
constexpr std::int64_t sqlite_application_id = 0x4f48554c;
// Up to this size the whole file is checked at each open, which takes well under a second when it is
// cached and a few seconds when it is not.
constexpr std::uint64_t max_wholly_checked_bytes = 256U << 20U;

// Makes the file or takes an empty one, and binds it. Errors as SqliteDatabase::create.
Result<void> make_sqlite_file(const SqliteLocation& location, WallTime now);
// Changes no byte. Errors as check_sqlite.
Result<SqliteReport> examine_sqlite_file(const SqliteLocation& location);
// Applies what is missing of the chain in one transaction. For a file that was examined.
Result<void> migrate(SqliteConnection& connection, int migrations_applied, WallTime now);

}  // namespace outhaul::store
