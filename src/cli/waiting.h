// Why a task has not started, for the person who waits for it. Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace outhaul::cli {

// One line each, of what `GET /api/v1/tasks/{id}` answers. Empty when it does not wait for a node (any more).
std::vector<std::string> waiting_lines(const boost::json::value& task);

}  // namespace outhaul::cli
