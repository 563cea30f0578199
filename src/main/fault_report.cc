#include "main/fault_report.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/remedy.h"

namespace outhaul {

int report_fault(std::string_view program, const Error& error) {
  fmt::print(stderr, "{}: {} [{}]\n", program, error.what(), name_of(error.code()));
  for (const auto& detail : error.details()) {
    if (detail.name != remedy_detail) fmt::print(stderr, "  {}: {}\n", detail.name, detail.value);
  }
  fmt::print(stderr, "  {}\n", remedy_of(error));
  return 1;
}

}  // namespace outhaul
