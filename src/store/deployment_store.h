// What this database belongs to, and the few named values that have no table of their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"

namespace outhaul::store {

struct Deployment {
  std::string name;  // DNS name; bound once when the database is made, never changed
  std::uint64_t hub_epoch = 1;
  WallTime created_at;
  bool operator==(const Deployment&) const = default;
};

class DeploymentReader {
 public:
  virtual ~DeploymentReader() = default;
  virtual Result<Deployment> load() = 0;
  virtual Result<std::optional<Bytes>> find_setting(const std::string& name) = 0;
  // Settings whose name starts with `prefix`, at most max_page_rows (else `exhausted`).
  virtual Result<std::map<std::string, Bytes>> settings(const std::string& prefix) = 0;
};

class DeploymentStore : public DeploymentReader {
 public:
  // The first half of every fence. A restored backup raises it, to `least` at least; gives the new one.
  virtual Result<std::uint64_t> raise_hub_epoch(std::uint64_t least) = 0;
  // Names are ours, such as "signing_key.current"; a value is at most max_setting_bytes (`too_large`).
  virtual Result<void> put_setting(const std::string& name, const Bytes& value) = 0;
  // Gives false when there was none.
  virtual Result<bool> remove_setting(const std::string& name) = 0;
};

constexpr std::size_t max_setting_bytes = 64U << 10U;

}  // namespace outhaul::store
