// The reading of policy.yaml. Every fault is noted with its line and the reading goes on, so that the owner
// sees all of them at once.

#include <algorithm>
#include <charconv>
#include <map>

#include "config/config_reader.h"
#include "policy/policy.h"

namespace outhaul::policy {
namespace {

using config::ConfigReader;
using namespace std::chrono_literals;

constexpr std::size_t max_rules = 1024;
constexpr config::DurationRange ask_limits{1s, std::chrono::hours(24)};

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_relative_directory(const std::string& text) {
  return !text.empty() && !text.starts_with('/') && (text == "." || !("/" + text + "/").contains("/../"));
}

bool is_variable_pattern(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
         text.npos;
}

std::string path_fault(const std::string& text) {
  return text.starts_with('/') ? "" : "must be an absolute path";
}

void read_owners(ConfigReader& map, std::set<AccountId>& into) {
  std::vector<std::string> texts;
  map.read_texts("owners", texts, [](const std::string& word) {
    return AccountId::parse(word) ? std::string() : std::string("must hold account ids (acc_...)");
  });
  for (const auto& text : texts) into.insert(AccountId::assume(text));
}

std::optional<Ask> read_ask(ConfigReader& map) {
  const auto word = map.find_text("ask", [](const std::string& text) {
    return text == "never" || text == "once" || text == "always"
               ? std::string()
               : std::string("must be never, once or always");
  });
  if (!word) return std::nullopt;
  if (*word == "never") return Ask::never;
  return *word == "once" ? Ask::once : Ask::always;
}

std::optional<IntegerRange> read_range(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  IntegerRange range;
  const auto read = [](std::string_view part, std::int64_t& into) {
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), into);
    return fault == std::errc() && end == part.data() + part.size();
  };
  const std::string_view all = text;
  if (!read(all.substr(0, dots), range.least) || !read(all.substr(dots + 2), range.most)) return std::nullopt;
  return range.least <= range.most ? std::optional(range) : std::nullopt;
}

std::optional<ArgumentForm> read_pattern(ConfigReader& map) {
  std::optional<TextPattern> pattern;
  map.find_text("pattern", [&pattern](const std::string& text) {
    auto parsed = TextPattern::parse(text);
    if (!parsed) return "is no pattern: " + parsed.error().what();
    pattern = std::move(*parsed);
    return std::string();
  });
  if (!pattern) return std::nullopt;
  return ArgumentForm(std::move(*pattern));
}

std::optional<ArgumentForm> read_integer(ConfigReader& map) {
  const auto text = map.find_text("integer", [](const std::string& word) {
    return read_range(word) ? std::string() : std::string("must be a range such as 1..65535");
  });
  if (!text) return std::nullopt;
  return ArgumentForm(*read_range(*text));
}

std::optional<ArgumentForm> read_path(ConfigReader& map) {
  const auto text = map.find_text("path", [](const std::string& word) {
    return word.starts_with('/') || is_relative_directory(word)
               ? std::string()
               : std::string("must be a directory: absolute, or below the working directory, without `..`");
  });
  if (!text) return std::nullopt;
  return ArgumentForm(PathBeneath{*text});
}

std::optional<ArgumentForm> read_form(ConfigReader& map) {
  const auto any_text = [](const std::string&) { return std::string(); };
  const int forms =
      map.has("literal") + map.has("enum") + map.has("pattern") + map.has("integer") + map.has("path");
  if (forms != 1) {
    map.refuse_map("an argument has exactly one of `literal`, `enum`, `pattern`, `integer`, `path`");
    return std::nullopt;
  }
  if (map.has("pattern")) return read_pattern(map);
  if (map.has("integer")) return read_integer(map);
  if (map.has("path")) return read_path(map);
  OneOf texts;
  map.read_texts("enum", texts.texts, any_text);
  if (auto literal = map.find_text("literal", any_text)) texts.texts.push_back(std::move(*literal));
  return ArgumentForm(std::move(texts));
}

std::optional<ArgumentSchema> read_arguments(ConfigReader& rule) {
  if (!rule.has("arguments")) return std::nullopt;
  std::vector<ArgumentElement> elements;
  for (auto& map : rule.read_maps("arguments", ArgumentSchema::max_elements)) {
    ArgumentElement element;
    map.read_flag("optional", element.may_be_absent);
    map.read_flag("repeat", element.may_repeat);
    auto form = read_form(map);
    map.end_map();
    if (!form) continue;
    element.form = std::move(*form);
    elements.push_back(std::move(element));
  }
  return ArgumentSchema(std::move(elements));
}

Rule read_rule(ConfigReader& map) {
  Rule rule;
  rule.line = map.line();
  if (!map.has("path")) map.refuse_map("an executable needs its `path`");
  rule.path = map.find_text("path", path_fault).value_or("");
  rule.sha256 = map.find_text("sha256",
                              [](const std::string& text) {
                                return is_sha256(text) ? std::string()
                                                       : std::string("must be 64 hex digits in lower case");
                              })
                    .value_or("");
  rule.arguments = read_arguments(map);
  read_owners(map, rule.owners);
  rule.ask = read_ask(map);
  map.end_map();
  return rule;
}

void read_mode(ConfigReader& map, Policy& policy) {
  if (!map.has("mode")) return map.refuse_map("`mode` is missing: STRICT or PERMISSIVE");
  const auto word = map.find_text("mode", [](const std::string& text) {
    return text == "STRICT" || text == "PERMISSIVE" ? std::string()
                                                    : std::string("must be STRICT or PERMISSIVE");
  });
  policy.mode = word == "PERMISSIVE" ? Mode::permissive : Mode::strict;
}

void read_places(ConfigReader& map, Policy& policy) {
  std::vector<std::string> planes;
  map.read_texts("planes", planes, [](const std::string& word) {
    return wire::parse_plane(word) ? std::string() : std::string("must hold planes, such as task");
  });
  policy.planes.insert(planes.begin(), planes.end());
  if (map.has("environment")) {
    map.read_texts("environment", policy.environment.emplace(), [](const std::string& word) {
      return is_variable_pattern(word)
                 ? std::string()
                 : std::string("must hold names of variables; only a last `*` stands for more");
    });
  }
  map.read_texts("working_directories", policy.working_directories, [](const std::string& word) {
    return is_relative_directory(word) ? std::string() : std::string("must hold paths below the workspace");
  });
}

void read_deny(ConfigReader& map, Policy& policy) {
  map.read_texts("deny", policy.deny, [](const std::string& word) {
    const bool is_name = !word.empty() && !word.contains('/');
    return is_name || word.starts_with('/')
               ? std::string()
               : std::string("must hold names without a slash, or absolute paths");
  });
  if (policy.mode == Mode::strict && map.has("deny")) {
    map.refuse("deny", "means nothing in mode STRICT, where only `executables` may run");
  }
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& file_name) {
  OUTHAUL_TRY(root, ConfigReader::parse(text, file_name));
  Policy policy;
  root.require_version(1);
  read_mode(root, policy);
  read_owners(root, policy.owners);
  read_places(root, policy);
  for (auto& map : root.read_maps("executables", max_rules)) policy.executables.push_back(read_rule(map));
  read_deny(root, policy);
  policy.ask = read_ask(root).value_or(Ask::never);
  root.read_duration("ask_within", policy.ask_within, ask_limits);
  OUTHAUL_CHECK(root.finish({}));
  return policy;
}

}  // namespace outhaul::policy
