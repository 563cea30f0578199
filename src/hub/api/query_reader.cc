#include "hub/api/query_reader.h"

#include <charconv>

#include "base/duration_text.h"

namespace outhaul::hub {

std::optional<std::string_view> QueryReader::find(std::string_view name) {
  asked_.emplace(name);
  return query_.find(name);
}

std::string QueryReader::text(std::string_view name, std::size_t max_bytes) {
  const auto value = find(name);
  if (value && (value->empty() || value->size() > max_bytes)) refuse(name, "is empty or too long");
  return std::string(value.value_or(std::string_view()));
}

bool QueryReader::flag(std::string_view name) {
  const auto value = find(name);
  if (value && value != "true" && value != "false") refuse(name, "must be true or false");
  return value == "true";
}

std::optional<std::uint64_t> QueryReader::number(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  const auto* end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  // Offsets are kept as signed numbers in more than one place.
  if (value->empty() || read.ec != std::errc() || read.ptr != end || number > INT64_MAX) {
    refuse(name, "must be a whole number of at least 0");
    return std::nullopt;
  }
  return number;
}

std::optional<std::chrono::nanoseconds> QueryReader::duration(std::string_view name,
                                                              std::chrono::nanoseconds most) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const auto span = parse_duration(*value);
  if (!span || *span > most) {
    refuse(name, "must be a duration of at most " + duration_text(most));
    return std::nullopt;
  }
  return *span;
}

store::PageRequest QueryReader::page() {
  store::PageRequest page;
  page.cursor = text("cursor");
  if (const auto limit = number("limit")) {
    if (*limit < 1 || *limit > store::max_page_rows) refuse("limit", "must be 1 to 200");
    page.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(*limit, store::max_page_rows));
  }
  return page;
}

void QueryReader::refuse(std::string_view name, std::string_view why) {
  faults_.push_back({std::string(name), std::string(why)});
}

Result<void> QueryReader::finish() {
  for (const auto& [name, value] : query_) {
    if (!asked_.contains(name))
      return fail(ErrorCode::invalid, "the query has a parameter that this address does not take");
  }
  if (faults_.empty()) return {};
  Error error(ErrorCode::invalid, "the query has faults");
  for (auto& fault : faults_) error = std::move(error).with(std::move(fault.name), std::move(fault.value));
  return fail(std::move(error));
}

}  // namespace outhaul::hub
