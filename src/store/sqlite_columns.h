// How sets of words stand in one column: a line each, so that the sqlite3 shell shows them.
#pragma once

#include <string>
#include <string_view>

#include "store/node_store.h"

namespace outhaul::store {

// Both have passed check_labels and check_planes: no line end is inside.
std::string column_of(const Labels& labels);
std::string column_of(const Planes& planes);
// For text that column_of wrote.
Labels assume_labels(std::string_view column);
Planes assume_planes(std::string_view column);

}  // namespace outhaul::store
