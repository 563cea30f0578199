#include "store/row_rules.h"
#include "store/sqlite_database.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_STREAM_COLUMNS "id, task, place, incarnation, payload_bytes, completed_at"

StreamRow read_stream(SqliteStatement& in) {
  StreamRow stream;
  stream.id = in.id<StreamId>();
  stream.task = in.id<TaskId>();
  stream.place = static_cast<StreamPlace>(in.integer());
  stream.incarnation = in.blob();
  stream.payload_bytes = static_cast<std::uint64_t>(in.integer());
  stream.completed_at = in.time();
  return stream;
}

Bytes read_records(SqliteStatement& in) { return in.blob(); }

}  // namespace

// A statement of its own, so that one stream at a time is in memory.
Result<void> visit_archived_streams(const SqliteLocation& location, const ArchiveVisitor& visit) {
  OUTHAUL_TRY(connection, SqliteConnection::open(location.path, SqliteConnection::Mode::examine));
  OUTHAUL_TRY(statement, connection.query("SELECT " OUTHAUL_STREAM_COLUMNS
                                          ", records FROM streams WHERE place = 0 ORDER BY id"));
  for (;;) {
    OUTHAUL_TRY(has_row, statement.step());
    if (!has_row) return {};
    const auto stream = read_stream(statement);
    visit(stream, read_records(statement));
  }
}

Result<std::optional<StreamRow>> SqliteStreamStore::find(const StreamId& id) {
  return read_optional(connection_.query("SELECT " OUTHAUL_STREAM_COLUMNS " FROM streams WHERE id = ?", id),
                       read_stream);
}

Result<std::optional<Bytes>> SqliteStreamStore::find_records(const StreamId& id) {
  return read_optional(connection_.query("SELECT records FROM streams WHERE id = ? AND place = 0", id),
                       read_records);
}

Result<void> SqliteStreamStore::add(const StreamRow& stream, ByteView records) {
  OUTHAUL_CHECK(check_stream(stream, records));
  auto added = connection_.change(
      "INSERT INTO streams (" OUTHAUL_STREAM_COLUMNS ", records) VALUES (?,?,?,?,?,?,?)", stream.id,
      stream.task, static_cast<std::int64_t>(stream.place), Blob(stream.incarnation),
      static_cast<std::int64_t>(stream.payload_bytes), stream.completed_at, Blob(records));
  if (!added && is_unique_violation(added.error())) return row_exists("stream");
  OUTHAUL_CHECK(added);
  return {};
}

Result<bool> SqliteStreamStore::remove(const StreamId& id) {
  OUTHAUL_TRY(removed, connection_.change("DELETE FROM streams WHERE id = ?", id));
  return removed != 0;
}

}  // namespace outhaul::store
