// DoctorReport: what was looked at, how it stands, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace outhaul {

enum class Health { ok, warn, fail };

class DoctorReport {
 public:
  struct Check {
    std::string name;
    Health health = Health::ok;
    std::string what;
    std::string remedy;  // empty when all is well
  };

  void ok(std::string name, std::string what);
  void warn(std::string name, std::string what, std::string remedy);
  void fail(std::string name, std::string what, std::string remedy);
  // What the error says, and its own remedy.
  void fail(std::string name, const Error& error);

  const std::vector<Check>& checks() const { return checks_; }
  bool has_failed() const;
  // A line a check, and its remedy below it.
  std::string text() const;
  std::string json() const;

 private:
  std::vector<Check> checks_;
};

}  // namespace outhaul
