// Pages of listings: bounded, resumed by an opaque cursor, stable while rows are added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outhaul::store {

constexpr std::uint32_t default_page_rows = 50;
constexpr std::uint32_t max_page_rows = 200;

struct PageRequest {
  // 1..max_page_rows; anything else is `invalid`.
  std::uint32_t limit = default_page_rows;
  // Empty for the first page, else `next_cursor` of the page before, unchanged. Callers do not look
  // inside; a cursor that no page gave is `invalid` and is not repeated in the message.
  std::string cursor;
};

template <class Row>
struct Page {
  std::vector<Row> rows;
  // Empty when this was the last page.
  std::string next_cursor;
};

}  // namespace outhaul::store
