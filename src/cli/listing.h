// Listings and single things: what every "list" and "show" command has in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/api.h"

namespace outhaul::cli {

struct Column {
  std::string title;
  std::function<std::string(const json::value& item)> cell;
};
// A column that shows the text at `key`.
Column text_column(std::string title, std::string key);

// GET of a listing: JSON array with --json, else a table.
Task<int> show_list(Cli& cli, std::string target, std::vector<Column> columns);
// GET of one thing: JSON with --json, else one "key: value" line a member.
Task<int> show_one(Cli& cli, std::string target);
// Any other request; prints its answer as show_one does.
Task<int> send_and_show(Cli& cli, http::Method method, std::string target, Bytes body = {});

// "key=value" pairs as a JSON object; fails with `invalid` and names the option.
Result<json::object> parse_pairs(const std::vector<std::string>& pairs, std::string_view option);

}  // namespace outhaul::cli
