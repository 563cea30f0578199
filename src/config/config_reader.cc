#include "config/config_reader.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/duration_text.h"

namespace outhaul::config {
namespace {

struct Entry {
  int line = 0;  // from 1
  YAML::Node value;
  bool is_read = false;
};

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

// Yaml-cpp throws; this is the adapter around it.
Result<YAML::Node> load_yaml(std::string_view text, const std::string& file_name) {
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return fail(Error(ErrorCode::config_invalid,
                      fmt::format("{}:{}: not YAML: {}", file_name, line_of(error.mark), error.msg)));
  }
}

std::optional<std::string> scalar_of(const YAML::Node& value) {
  if (!value.IsScalar()) return std::nullopt;
  return value.Scalar();
}

}  // namespace

// Shared by the file and the maps inside it, for they end in no fixed order.
struct ConfigReader::Faults {
  std::string file_name;
  std::multimap<int, std::string> by_line;
};

struct ConfigReader::State {
  std::shared_ptr<Faults> faults;
  int line = 1;
  std::map<std::string, Entry, std::less<>> entries;

  void note(int at, std::string text) { faults->by_line.emplace(at, std::move(text)); }
  Entry* find(std::string_view key) {
    const auto found = entries.find(key);
    if (found == entries.end()) return nullptr;
    found->second.is_read = true;
    return &found->second;
  }
  void note_unread(std::span<const RemovedKey> removed) {
    for (const auto& [key, entry] : entries) {
      if (entry.is_read) continue;
      const auto gone = std::ranges::find(removed, key, &RemovedKey::name);
      note(entry.line, gone == removed.end() ? fmt::format("unknown key `{}`", key)
                                             : fmt::format("`{}` was removed: {}", key, gone->replacement));
    }
  }
  void take_entries(const YAML::Node& root) {
    for (const auto& pair : root) {
      const int at = line_of(pair.first.Mark());
      const auto key = scalar_of(pair.first);
      if (!key) {
        note(at, "a key must be a word");
      } else if (!entries.emplace(*key, Entry{at, pair.second}).second) {
        note(at, fmt::format("`{}` is given twice", *key));
      }
    }
  }
};

ConfigReader::ConfigReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConfigReader::ConfigReader(ConfigReader&&) noexcept = default;
ConfigReader& ConfigReader::operator=(ConfigReader&&) noexcept = default;
ConfigReader::~ConfigReader() = default;

Result<ConfigReader> ConfigReader::parse(std::string_view text, std::string file_name) {
  if (text.size() > max_bytes) {
    return fail(ErrorCode::config_invalid, file_name + ": larger than 256 KiB");
  }
  OUTHAUL_TRY(root, load_yaml(text, file_name));
  auto state = std::make_unique<State>();
  state->faults = std::make_shared<Faults>(std::move(file_name));
  if (root.IsMap()) {
    state->take_entries(root);
  } else if (!root.IsNull()) {
    return fail(ErrorCode::config_invalid, state->faults->file_name + ":1: not a map of keys and values");
  }
  return ConfigReader(std::move(state));
}

void ConfigReader::require_version(int version) {
  const auto* entry = state_->find("version");
  if (entry == nullptr) return refuse_map(fmt::format("`version: {}` is missing", version));
  if (scalar_of(entry->value) != std::to_string(version)) {
    state_->note(entry->line, fmt::format("`version` must be {}", version));
  }
}

bool ConfigReader::has(std::string_view key) const { return state_->entries.contains(key); }

int ConfigReader::line() const { return state_->line; }

std::optional<std::string> ConfigReader::find_text(std::string_view key, const Rule& rule) {
  const auto* entry = state_->find(key);
  if (entry == nullptr) return std::nullopt;
  auto text = scalar_of(entry->value);
  const auto fault = text ? rule(*text) : std::string("must be one text");
  if (fault.empty()) return text;
  state_->note(entry->line, fmt::format("`{}` {}", key, fault));
  return std::nullopt;
}

void ConfigReader::read_text(std::string_view key, std::string& into, const Rule& rule) {
  if (auto text = find_text(key, rule)) into = *std::move(text);
}

void ConfigReader::read_texts(std::string_view key, std::vector<std::string>& into, const Rule& rule) {
  const auto* entry = state_->find(key);
  if (entry == nullptr) return;
  if (!entry->value.IsSequence()) return state_->note(entry->line, fmt::format("`{}` must be a list", key));
  std::vector<std::string> texts;
  for (const auto& item : entry->value) {
    const auto text = scalar_of(item);
    const auto fault = text ? rule(*text) : std::string("must be a list of texts");
    if (!fault.empty()) return state_->note(line_of(item.Mark()), fmt::format("`{}` {}", key, fault));
    texts.push_back(*text);
  }
  into = std::move(texts);
}

void ConfigReader::read_duration(std::string_view key, std::chrono::nanoseconds& into, DurationRange range) {
  const auto* entry = state_->find(key);
  if (entry == nullptr) return;
  const auto span = parse_duration(scalar_of(entry->value).value_or(""));
  if (!span || *span < range.least || *span > range.most) {
    return state_->note(entry->line, fmt::format("`{}` must be a duration from {} to {}, such as 30s", key,
                                                 duration_text(range.least), duration_text(range.most)));
  }
  into = *span;
}

void ConfigReader::read_count(std::string_view key, std::size_t& into, std::size_t least, std::size_t most) {
  const auto* entry = state_->find(key);
  if (entry == nullptr) return;
  std::size_t count = 0;
  if (!entry->value.IsScalar() || !YAML::convert<std::size_t>::decode(entry->value, count) || count < least ||
      count > most) {
    return state_->note(entry->line,
                        fmt::format("`{}` must be a whole number from {} to {}", key, least, most));
  }
  into = count;
}

void ConfigReader::read_mib(std::string_view key, std::uint64_t& bytes, std::size_t least) {
  constexpr std::size_t max_mib = 64U << 20U;
  std::size_t mib = bytes >> 20U;
  read_count(key, mib, least, max_mib);
  bytes = std::uint64_t{mib} << 20U;
}

void ConfigReader::read_flag(std::string_view key, bool& into) {
  const auto word = find_text(key, [](const std::string& text) {
    return text == "true" || text == "false" ? std::string() : std::string("must be true or false");
  });
  if (word) into = *word == "true";
}

std::vector<ConfigReader> ConfigReader::read_maps(std::string_view key, std::size_t most) {
  std::vector<ConfigReader> maps;
  const auto* entry = state_->find(key);
  if (entry == nullptr) return maps;
  if (!entry->value.IsSequence() || entry->value.size() > most) {
    state_->note(entry->line, fmt::format("`{}` must be a list of at most {} entries", key, most));
    return maps;
  }
  for (const auto& item : entry->value) {
    auto state = std::make_unique<State>();
    state->faults = state_->faults;
    state->line = line_of(item.Mark());
    if (item.IsMap()) {
      state->take_entries(item);
      maps.push_back(ConfigReader(std::move(state)));
    } else {
      state_->note(state->line, fmt::format("`{}` must be a list of maps", key));
    }
  }
  return maps;
}

void ConfigReader::refuse(std::string_view key, std::string_view why) {
  const auto found = state_->entries.find(key);
  const int line = found == state_->entries.end() ? state_->line : found->second.line;
  state_->note(line, fmt::format("`{}` {}", key, why));
}

void ConfigReader::refuse_map(std::string_view why) { state_->note(state_->line, std::string(why)); }

void ConfigReader::end_map() { state_->note_unread({}); }

Result<void> ConfigReader::finish(std::span<const RemovedKey> removed) {
  state_->note_unread(removed);
  const auto& [file_name, faults] = *state_->faults;
  if (faults.empty()) return {};
  Error error(ErrorCode::config_invalid,
              fmt::format("{}: {} fault{}", file_name, faults.size(), faults.size() == 1 ? "" : "s"));
  for (const auto& [line, text] : faults) {
    error = std::move(error).with("fault", fmt::format("{}:{}: {}", file_name, line, text));
  }
  return fail(std::move(error));
}

}  // namespace outhaul::config
