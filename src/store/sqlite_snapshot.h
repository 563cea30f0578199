// A consistent copy of a database file while another process writes to it.
#pragma once

#include <string>

#include "base/error.h"

namespace outhaul::store {

// Every transaction that is durable when the copy begins, and none after it. `to` is missing or empty; it is
// a whole database without a log beside it afterwards, synced. Writers are not held up.
//   errors  store_corrupt, disk_full, unavailable
Result<void> copy_sqlite(const std::string& from, const std::string& to);

}  // namespace outhaul::store
