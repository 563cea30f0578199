// ConfigReader: strict reading of one YAML configuration file, or of one map inside it. Getters never fail on
// the spot: they note the fault and give the default; finish() of the file then names every fault at once,
// each with file, line and key.
//
//   OUTHAUL_TRY(reader, ConfigReader::parse(text, "hub.yaml"));
//   reader.require_version(1);
//   reader.read_duration("drain_limit", settings.drain_limit, {1s, 1h});
//   OUTHAUL_CHECK(reader.finish(removed_keys));
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace outhaul::config {

// A key that an earlier version read.
struct RemovedKey {
  std::string_view name;
  std::string_view replacement;  // what to write instead: a sentence for a person
};

struct DurationRange {
  std::chrono::nanoseconds least;
  std::chrono::nanoseconds most;
};

class ConfigReader {
 public:
  static constexpr std::size_t max_bytes = 256 * 1024;

  // `file_name` is for messages. Fails with `config_invalid` when the text is no YAML map; an empty text is
  // one without keys. Values are never repeated in a message: a file may hold secrets.
  static Result<ConfigReader> parse(std::string_view text, std::string file_name);
  ConfigReader(ConfigReader&&) noexcept;
  ConfigReader& operator=(ConfigReader&&) noexcept;
  ~ConfigReader();

  bool has(std::string_view key) const;
  int line() const;  // of this map, from 1
  // The key `version` must hold this number.
  void require_version(int version);
  // Each leaves `into` as it is when the key is absent or its value is a fault. A `rule` gives what is wrong
  // with a text, or an empty string.
  using Rule = std::function<std::string(const std::string&)>;
  std::optional<std::string> find_text(std::string_view key, const Rule& rule);  // empty as well
  void read_text(std::string_view key, std::string& into, const Rule& rule);
  void read_texts(std::string_view key, std::vector<std::string>& into, const Rule& rule);
  void read_duration(std::string_view key, std::chrono::nanoseconds& into, DurationRange range);
  void read_count(std::string_view key, std::size_t& into, std::size_t least, std::size_t most);
  // A number of MiB, as bytes.
  void read_mib(std::string_view key, std::uint64_t& bytes, std::size_t least);

  void read_flag(std::string_view key, bool& into);
  // A list of maps, each read like a file; empty when the key is absent or its value is a fault.
  std::vector<ConfigReader> read_maps(std::string_view key, std::size_t most);

  // A fault that concerns several keys; the line is that of `key` when it is there.
  void refuse(std::string_view key, std::string_view why);
  // A fault of the whole map.
  void refuse_map(std::string_view why);
  // Of an inner map: keys that nobody read are faults.
  void end_map();
  // `config_invalid` with one detail `fault` for each, in the order of lines; keys that nobody read are
  // faults.
  Result<void> finish(std::span<const RemovedKey> removed);

 private:
  struct Faults;
  struct State;
  explicit ConfigReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace outhaul::config
