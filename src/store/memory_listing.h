// Pages over a MemoryTable.
#pragma once

#include <iterator>

#include "store/cursor.h"
#include "store/memory_tables.h"

namespace outhaul::store {

template <class Row>
std::optional<Row> copy_of(const Row* row) {
  return row == nullptr ? std::nullopt : std::optional<Row>(*row);
}

template <class RowId, class Row, class Match>
Result<Page<Row>> list_oldest_first(const MemoryTable<RowId, Row>& table, const PageRequest& page,
                                    Match matches) {
  OUTHAUL_TRY(start, parse_page_start<RowId>(page));
  std::vector<Row> rows;
  for (auto at = table.rows().upper_bound(start); at != table.rows().end() && rows.size() <= page.limit;
       ++at) {
    if (matches(at->second)) rows.push_back(at->second);
  }
  return make_page(std::move(rows), page.limit);
}

template <class RowId, class Row, class Match>
Result<Page<Row>> list_newest_first(const MemoryTable<RowId, Row>& table, const PageRequest& page,
                                    Match matches) {
  OUTHAUL_TRY(start, parse_page_start<RowId>(page));
  const auto& rows_by_id = table.rows();
  const auto end = start.is_empty() ? rows_by_id.end() : rows_by_id.lower_bound(start);
  std::vector<Row> rows;
  for (auto at = std::make_reverse_iterator(end); at != rows_by_id.rend() && rows.size() <= page.limit;
       ++at) {
    if (matches(at->second)) rows.push_back(at->second);
  }
  return make_page(std::move(rows), page.limit);
}

}  // namespace outhaul::store
