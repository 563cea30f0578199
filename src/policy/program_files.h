// ProgramFiles: what a policy needs to know of the machine's files. Asked when a task is judged, never
// cached: a file may be replaced at any time.
//   adapters  node/machine_files.h (the real one), a table in tests
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace outhaul::policy {

class ProgramFiles {
 public:
  virtual ~ProgramFiles() = default;
  // The absolute path without links of the program that exec would run: `name` with a slash is taken from
  // `directory`, without one it is looked up in `search_path` (as PATH). Empty: there is none that may be
  // executed.
  virtual std::optional<std::string> find_program(const std::string& name, const std::string& search_path,
                                                  const std::string& directory) const = 0;
  // The absolute path without links; a last part that does not exist (yet) is kept. Empty when what is before
  // it does not exist either, or is no directory.
  virtual std::optional<std::string> real_path(const std::string& path) const = 0;
  // Which file or directory stands at a path without links: another text once another one stands there.
  // Empty: nothing.
  virtual std::optional<std::string> identity(const std::string& path) const = 0;
  // The words after `#!` when the file begins so.
  virtual std::vector<std::string> script_line(const std::string& path) const = 0;
  // Of the whole content, 64 hex digits. Empty: it cannot be read.
  virtual std::optional<std::string> sha256(const std::string& path) const = 0;
};

}  // namespace outhaul::policy
