// TaskFiles: the machine's files as a task of this machine would use them. Beside what a policy asks, it can
// hold a file: what is written to its path afterwards changes nothing of what was held.
//   adapters  node/owner/machine_files.h (the real one), testing/memory_owner.h
//   runs on   any thread: files may be read where nobody waits for it
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policy/program_files.h"
#include "sandbox/process_launcher.h"

namespace outhaul::node {

// A file as it was at one moment.
struct HeldFile {
  std::string identity;                  // as ProgramFiles::identity
  std::string sha256;                    // hex, of what is held; empty for a directory
  sandbox::SharedDescriptor descriptor;  // null: it stays in its place, for only the system changes it
};

class TaskFiles : public policy::ProgramFiles {
 public:
  // Both empty when there is no such file, or one that cannot be read or is too large to be copied.
  virtual std::optional<HeldFile> hold(const std::string& path) const = 0;
  virtual std::optional<HeldFile> hold_directory(const std::string& path) const = 0;
};

}  // namespace outhaul::node
