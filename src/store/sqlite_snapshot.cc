#include "store/sqlite_snapshot.h"

#include "store/sqlite_connection.h"

namespace outhaul::store {

Result<void> copy_sqlite(const std::string& from, const std::string& to) {
  OUTHAUL_TRY(connection, SqliteConnection::open(from, SqliteConnection::Mode::copy));
  OUTHAUL_CHECK(connection.change("VACUUM INTO ?", std::string_view(to)));
  return {};
}

}  // namespace outhaul::store
