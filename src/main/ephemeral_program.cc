#include "main/ephemeral_program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "main/fault_report.h"

namespace outhaul {
namespace {

Result<std::string> make_temporary_directory() {
  std::error_code fault;
  auto base = std::filesystem::temp_directory_path(fault);
  if (fault) return fail(ErrorCode::unavailable, "the temporary directory: " + fault.message());
  std::string path = (base / "outhaul-node-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::unavailable, path + ": " + std::generic_category().message(errno));
  }
  return path;
}

Result<void> enrol_once(const NodeOptions& options) {
  // Of a process that was killed.
  if (node::is_enrolled(options.data)) return {};
  OUTHAUL_TRY(enrolment, enrol(options));
  fmt::print("enrolled as {} ({}) with {}, for one stint\n", enrolment.name, enrolment.node.text(),
             enrolment.deployment);
  std::fflush(stdout);
  return {};
}

int run_in(const NodeOptions& options) {
  if (const auto enrolled = enrol_once(options); !enrolled) {
    return report_fault("outhaul-node", enrolled.error());
  }
  return run_node(options);
}

}  // namespace

int run_ephemeral_node(NodeOptions options) {
  const bool is_temporary = options.data.empty();
  if (is_temporary) {
    auto made = make_temporary_directory();
    if (!made) return report_fault("outhaul-node", made.error());
    options.data = std::move(*made);
  }
  const int status = run_in(options);
  if (!is_temporary) return status;
  std::error_code fault;
  // What the hub does not have is the only copy.
  if (status == 0 || std::filesystem::is_empty(options.data, fault)) {
    std::filesystem::remove_all(options.data, fault);
    if (fault) fmt::print(stderr, "outhaul-node: {}: {}\n", options.data, fault.message());
  } else {
    fmt::print(stderr, "outhaul-node: the node's data are kept in {}\n", options.data);
  }
  return status;
}

}  // namespace outhaul
