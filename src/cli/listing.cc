#include "cli/listing.h"

#include <cstdio>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

void print_one(const Cli& cli, const json::value& thing) {
  if (cli.options.json) return print_json(thing);
  std::fputs(described(thing).c_str(), stdout);
}

}  // namespace

Column text_column(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const json::value& item) {
            auto text = shown(text_at(item, key));
            return text.empty() ? std::string("-") : text;
          }};
}

Task<int> show_list(Cli& cli, std::string target, std::vector<Column> columns) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto items = co_await api->list(std::move(target));
  if (!items) co_return report(items.error());
  if (cli.options.json) {
    print_json(*items);
    co_return exit_code::done;
  }
  std::vector<std::string> header;
  for (const auto& column : columns) header.push_back(column.title);
  Table table(std::move(header));
  for (const auto& item : *items) {
    std::vector<std::string> row;
    for (const auto& column : columns) row.push_back(column.cell(item));
    table.add(std::move(row));
  }
  table.print();
  co_return exit_code::done;
}

Task<int> show_one(Cli& cli, std::string target) {
  return send_and_show(cli, http::Method::get, std::move(target));
}

Task<int> send_and_show(Cli& cli, http::Method method, std::string target, Bytes body) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto answer = co_await api->call(method, std::move(target), std::move(body));
  if (!answer) co_return report(answer.error());
  if (!answer->is_null()) print_one(cli, *answer);
  co_return exit_code::done;
}

Result<json::object> parse_pairs(const std::vector<std::string>& pairs, std::string_view option) {
  json::object object;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::invalid, fmt::format("{} {}: write it as NAME=VALUE", option, shown(pair)));
    }
    object[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return object;
}

}  // namespace outhaul::cli
