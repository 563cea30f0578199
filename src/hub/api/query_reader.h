// QueryReader: strict reading of a request's query. Getters note a fault and give the default; finish() names
// every fault at once, and every parameter that nobody asked for.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "store/page.h"

namespace outhaul::hub {

class QueryReader {
 public:
  // The query outlives the reader.
  explicit QueryReader(const http::Query& query) : query_(query) {}

  std::string text(std::string_view name, std::size_t max_bytes = 256);
  bool flag(std::string_view name);  // true or false; absent is false
  std::optional<std::uint64_t> number(std::string_view name);
  std::optional<std::chrono::nanoseconds> duration(std::string_view name, std::chrono::nanoseconds most);
  // `cursor` and `limit`.
  store::PageRequest page();
  void refuse(std::string_view name, std::string_view why);

  // `invalid`, with one detail for each fault.
  Result<void> finish();

 private:
  std::optional<std::string_view> find(std::string_view name);
  const http::Query& query_;
  std::set<std::string, std::less<>> asked_;
  std::vector<ErrorDetail> faults_;
};

}  // namespace outhaul::hub
