// Cursors: the id of a page's last row, in base64url so that nobody comes to rely on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "store/page.h"

namespace outhaul::store {

std::string make_cursor(std::string_view id_text);
// The text that make_cursor was given; empty for anything it cannot have made.
std::optional<std::string> parse_cursor(std::string_view cursor);

// Fails with `invalid` when the limit or the cursor is not one that a caller may send. Gives the id to
// go on after; an empty one means from the start.
template <class RowId>
Result<RowId> parse_page_start(const PageRequest& page) {
  if (page.limit < 1 || page.limit > max_page_rows) {
    return fail(ErrorCode::invalid, "page: limit must be 1 to " + std::to_string(max_page_rows));
  }
  if (page.cursor.empty()) return RowId();
  if (const auto text = parse_cursor(page.cursor)) {
    if (auto id = RowId::parse(*text)) return id;
  }
  return fail(ErrorCode::invalid, "page: cursor is none that a listing gave");
}

// `rows` holds at most limit + 1 rows; the extra one only says that another page follows.
template <class Row>
Page<Row> make_page(std::vector<Row> rows, std::uint32_t limit) {
  Page<Row> page;
  page.rows = std::move(rows);
  if (page.rows.size() <= limit) return page;
  page.rows.pop_back();
  page.next_cursor = make_cursor(page.rows.back().id.text());
  return page;
}

}  // namespace outhaul::store
