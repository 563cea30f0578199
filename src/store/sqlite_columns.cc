#include "store/sqlite_columns.h"

namespace outhaul::store {
namespace {

// Takes the first line off `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

}  // namespace

std::string column_of(const Labels& labels) {
  std::string column;
  for (const auto& [name, value] : labels) column.append(name).append("=").append(value).append("\n");
  return column;
}

std::string column_of(const Planes& planes) {
  std::string column;
  for (const auto& plane : planes) column.append(plane).append("\n");
  return column;
}

Labels assume_labels(std::string_view column) {
  Labels labels;
  while (!column.empty()) {
    const auto line = take_line(column);
    const auto equals = line.find('=');
    labels.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return labels;
}

Planes assume_planes(std::string_view column) {
  Planes planes;
  while (!column.empty()) planes.emplace(take_line(column));
  return planes;
}

}  // namespace outhaul::store
