// YamlMap: strict reading of one map of a YAML file with maps inside. Getters never fail on the spot: they
// note the fault, with its line, in the list that all maps of the file share. Values are never repeated in a
// fault.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace outhaul::policy {

struct DurationLimits {
  std::chrono::nanoseconds least;
  std::chrono::nanoseconds most;
};

class YamlMap {
 public:
  // Gives what is wrong with a text, or an empty string.
  using Check = std::function<std::string(const std::string&)>;

  // The whole file; an empty one is a map without keys. Fails with config_invalid when it is no YAML map.
  static Result<YamlMap> parse(std::string_view text);

  bool has(std::string_view key) const { return entries_.contains(key); }
  int line() const { return line_; }  // from 1
  void require_version(std::string_view version);
  // Each is empty (false) when the key is absent or its value is a fault.
  std::optional<std::string> text(std::string_view key, const Check& check);
  std::vector<std::string> texts(std::string_view key, const Check& check);
  std::vector<YamlMap> maps(std::string_view key, std::size_t most);
  bool flag(std::string_view key);
  void duration(std::string_view key, std::chrono::nanoseconds& into, DurationLimits limits);
  // A fault of the whole map, or of one key.
  void refuse(std::string_view why);
  void refuse_key(std::string_view key, std::string_view why);
  // Keys that nobody asked for are faults.
  void finish();
  // config_invalid with one detail `fault` for each fault of the file, in the order of lines.
  Result<void> verdict(const std::string& file_name) const;

 private:
  struct Entry {
    int line = 0;
    YAML::Node value;
    bool is_read = false;
  };
  using Faults = std::multimap<int, std::string>;

  // Shared by all maps of a file, for they end in no fixed order.
  YamlMap(std::shared_ptr<Faults> faults, const YAML::Node& node, int line);
  Entry* find(std::string_view key);
  void note(int line, std::string_view key, std::string_view why);

  std::shared_ptr<Faults> faults_;
  int line_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace outhaul::policy
