// Reading rows out of statements. A reader gives the next row from the columns in its SELECT's order.
#pragma once

#include <optional>
#include <vector>

#include "store/cursor.h"
#include "store/sqlite_connection.h"

namespace outhaul::store {

template <class Row>
using RowReader = Row (*)(SqliteStatement&);

template <class Row>
Result<std::optional<Row>> read_optional(Result<SqliteStatement> statement, RowReader<Row> read) {
  if (!statement) return fail(std::move(statement).error());
  OUTHAUL_TRY(has_row, statement->step());
  if (!has_row) return std::optional<Row>();
  return std::optional<Row>(read(*statement));
}

template <class Row>
Result<std::vector<Row>> read_all(Result<SqliteStatement> statement, RowReader<Row> read) {
  if (!statement) return fail(std::move(statement).error());
  std::vector<Row> rows;
  for (;;) {
    OUTHAUL_TRY(has_row, statement->step());
    if (!has_row) return rows;
    rows.push_back(read(*statement));
  }
}

// Reads a listing whose last parameter is how many rows to fetch: one more than the page holds.
template <class Row>
Result<Page<Row>> read_page(Result<SqliteStatement> statement, RowReader<Row> read, std::uint32_t limit) {
  OUTHAUL_TRY(rows, read_all(std::move(statement), read));
  return make_page(std::move(rows), limit);
}
constexpr std::int64_t rows_to_fetch(const PageRequest& page) {
  return static_cast<std::int64_t>(page.limit) + 1;
}

// After the largest id: where a listing from newest to oldest starts.
constexpr std::string_view after_every_id = "~";

}  // namespace outhaul::store
