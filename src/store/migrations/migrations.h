// The schema's history, embedded in the program. Forward only: a migration that was released is never
// changed, removed or renumbered; what it got wrong the next one repairs.
#pragma once

#include <span>
#include <string_view>

namespace outhaul::store {

struct Migration {
  int number;  // 1, 2, 3, …
  std::string_view name;
  std::string_view sha256;  // hex, over `sql`; recorded in the database when it is applied
  const char* sql;
};

std::span<const Migration> migrations();

}  // namespace outhaul::store
