#include "policy/yaml_map.h"

#include "base/duration_text.h"

namespace outhaul::policy {
namespace {

constexpr std::size_t max_texts = 4096;

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// Yaml-cpp throws; this is the adapter around it.
Result<YAML::Node> load(std::string_view text) {
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::config_invalid,
                "line " + std::to_string(error.mark.line + 1) + ": not YAML: " + error.msg);
  }
}

}  // namespace

Result<YamlMap> YamlMap::parse(std::string_view text) {
  OUTHAUL_TRY(root, load(text));
  if (!root.IsMap() && !root.IsNull())
    return fail(ErrorCode::config_invalid, "line 1: not a map of keys and values");
  return YamlMap(std::make_shared<Faults>(), root, 1);
}

YamlMap::YamlMap(std::shared_ptr<Faults> faults, const YAML::Node& node, int line)
    : faults_(std::move(faults)), line_(line) {
  if (!node.IsMap()) return;
  for (const auto& pair : node) {
    const int at = line_of(pair.first);
    if (!pair.first.IsScalar()) {
      faults_->emplace(at, "a key must be a word");
    } else if (!entries_.emplace(pair.first.Scalar(), Entry{at, pair.second}).second) {
      note(at, pair.first.Scalar(), "is given twice");
    }
  }
}

void YamlMap::note(int line, std::string_view key, std::string_view why) {
  faults_->emplace(line, "`" + std::string(key) + "` " + std::string(why));
}

YamlMap::Entry* YamlMap::find(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.is_read = true;
  return &found->second;
}

void YamlMap::require_version(std::string_view version) {
  const auto* entry = find("version");
  if (entry == nullptr) return refuse("`version: " + std::string(version) + "` is missing");
  if (!entry->value.IsScalar() || entry->value.Scalar() != version) {
    note(entry->line, "version", "must be " + std::string(version));
  }
}

std::optional<std::string> YamlMap::text(std::string_view key, const Check& check) {
  const auto* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const std::string fault = entry->value.IsScalar() ? check(entry->value.Scalar()) : "must be one text";
  if (fault.empty()) return entry->value.Scalar();
  note(entry->line, key, fault);
  return std::nullopt;
}

std::vector<std::string> YamlMap::texts(std::string_view key, const Check& check) {
  std::vector<std::string> list;
  const auto* entry = find(key);
  if (entry == nullptr) return list;
  if (!entry->value.IsSequence() || entry->value.size() > max_texts) {
    note(entry->line, key, "must be a list of at most 4096 texts");
    return list;
  }
  for (const auto& item : entry->value) {
    const std::string fault = item.IsScalar() ? check(item.Scalar()) : "must be a list of texts";
    if (fault.empty()) {
      list.push_back(item.Scalar());
    } else {
      note(line_of(item), key, fault);
    }
  }
  return list;
}

std::vector<YamlMap> YamlMap::maps(std::string_view key, std::size_t most) {
  std::vector<YamlMap> list;
  const auto* entry = find(key);
  if (entry == nullptr) return list;
  if (!entry->value.IsSequence() || entry->value.size() > most) {
    note(entry->line, key, "must be a list of at most " + std::to_string(most) + " entries");
    return list;
  }
  for (const auto& item : entry->value) {
    if (item.IsMap()) {
      list.push_back(YamlMap(faults_, item, line_of(item)));
    } else {
      note(line_of(item), key, "must be a list of maps");
    }
  }
  return list;
}

bool YamlMap::flag(std::string_view key) {
  return text(key, [](const std::string& word) {
           return word == "true" || word == "false" ? std::string() : std::string("must be true or false");
         }) == "true";
}

void YamlMap::duration(std::string_view key, std::chrono::nanoseconds& into, DurationLimits limits) {
  const auto word = text(key, [&limits](const std::string& word) {
    const auto span = parse_duration(word);
    if (span && limits.least <= *span && *span <= limits.most) return std::string();
    return "must be a duration from " + duration_text(limits.least) + " to " + duration_text(limits.most) +
           ", such as 5m";
  });
  if (word) into = *parse_duration(*word);
}

void YamlMap::refuse(std::string_view why) { faults_->emplace(line_, why); }

void YamlMap::refuse_key(std::string_view key, std::string_view why) {
  const auto found = entries_.find(key);
  note(found == entries_.end() ? line_ : found->second.line, key, why);
}

void YamlMap::finish() {
  for (const auto& [key, entry] : entries_) {
    if (!entry.is_read) faults_->emplace(entry.line, "unknown key `" + key + "`");
  }
}

Result<void> YamlMap::verdict(const std::string& file_name) const {
  if (faults_->empty()) return {};
  const auto count = faults_->size();
  Error error(ErrorCode::config_invalid,
              file_name + ": " + std::to_string(count) + (count == 1 ? " fault" : " faults"));
  for (const auto& [line, text] : *faults_) {
    error = std::move(error).with("fault", file_name + ":" + std::to_string(line) + ": " + text);
  }
  return fail(std::move(error));
}

}  // namespace outhaul::policy
