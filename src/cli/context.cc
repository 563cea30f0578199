#include "cli/context.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "crypto/data_files.h"

namespace outhaul::cli {
namespace {

constexpr std::size_t max_file_bytes = 1U << 20U;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::unexpected<Error> invalid(const std::string& origin, int line, std::string_view fault) {
  return fail(ErrorCode::config_invalid, fmt::format("{}:{}: {}", origin, line, fault));
}

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// Reads one mapping of known text keys; anything else is a fault with its line.
Result<void> read_keys(const YAML::Node& node, const std::string& origin,
                       const std::map<std::string, std::string*>& known) {
  if (!node.IsMap()) return invalid(origin, line_of(node), "a mapping is expected here");
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto found = known.find(key);
    if (found == known.end())
      return invalid(origin, line_of(entry.first), fmt::format("unknown key '{}'", key));
    if (found->second == nullptr) continue;
    if (!entry.second.IsScalar())
      return invalid(origin, line_of(entry.second), fmt::format("'{}' takes text", key));
    *found->second = entry.second.as<std::string>();
  }
  return {};
}

Result<Context> read_context(const YAML::Node& node, const std::string& origin) {
  Context context;
  std::string token, signs;
  OUTHAUL_CHECK(read_keys(node, origin,
                          {{"name", &context.name},
                           {"url", &context.url},
                           {"token", &token},
                           {"ca_fingerprint", &context.ca_fingerprint},
                           {"sign", &signs}}));
  if (!signs.empty() && signs != "true" && signs != "false")
    return invalid(origin, line_of(node), "'sign' must be true or false");
  context.signs = signs == "true";
  context.token = Secret(std::move(token));
  if (context.name.empty() || context.url.empty()) {
    return invalid(origin, line_of(node), "a context needs 'name' and 'url'");
  }
  return context;
}

}  // namespace

std::string ContextFile::default_path() {
  if (auto path = variable("OUTHAUL_CONFIG"); !path.empty()) return path;
  if (const auto base = variable("XDG_CONFIG_HOME"); !base.empty()) return base + "/outhaul/config.yaml";
  if (const auto home = variable("HOME"); !home.empty()) return home + "/.config/outhaul/config.yaml";
  return {};
}

Result<ContextFile> ContextFile::load(std::string path) {
  if (path.empty()) {
    return fail(ErrorCode::config_invalid, "no place for contexts: set OUTHAUL_CONFIG or HOME");
  }
  if (!std::filesystem::exists(path)) {
    ContextFile none;
    none.path_ = std::move(path);
    return none;
  }
  OUTHAUL_TRY(text, crypto::read_private_file(path, max_file_bytes));
  return parse(text.reveal_for("contexts"), std::move(path));
}

Result<ContextFile> ContextFile::parse(std::string_view text, std::string origin) {
  ContextFile file;
  file.path_ = std::move(origin);
  try {
    const auto root = YAML::Load(std::string(text));
    if (root.IsNull()) return file;
    std::string version;
    OUTHAUL_CHECK(read_keys(root, file.path_,
                            {{"version", &version}, {"current", &file.current_}, {"contexts", nullptr}}));
    if (version != "1") return invalid(file.path_, line_of(root), "'version' must be 1");
    for (const auto& node : root["contexts"]) {
      OUTHAUL_TRY(context, read_context(node, file.path_));
      file.contexts_.push_back(std::move(context));
    }
  } catch (const YAML::Exception& error) {
    return invalid(file.path_, error.mark.line + 1, "not readable as YAML");
  }
  return file;
}

Secret ContextFile::text() const {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "version" << YAML::Value << 1;
  out << YAML::Key << "current" << YAML::Value << YAML::DoubleQuoted << current_;
  out << YAML::Key << "contexts" << YAML::Value << YAML::BeginSeq;
  for (const auto& context : contexts_) {
    out << YAML::BeginMap;
    const auto put = [&out](const char* key, std::string_view value) {
      out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << std::string(value);
    };
    put("name", context.name);
    put("url", context.url);
    put("token", context.token.reveal_for("contexts"));
    put("ca_fingerprint", context.ca_fingerprint);
    if (context.signs) out << YAML::Key << "sign" << YAML::Value << true;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return Secret(std::string(out.c_str()) + "\n");
}

Result<void> ContextFile::save() const {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  const auto whole = text();
  return crypto::write_private_file(path_, whole.reveal_for("contexts"));
}

const Context* ContextFile::find(std::string_view name) const {
  const std::string_view wanted = name.empty() ? std::string_view(current_) : name;
  const auto found = std::ranges::find(contexts_, wanted, &Context::name);
  return found == contexts_.end() ? nullptr : &*found;
}

void ContextFile::put(Context context) {
  current_ = context.name;
  const auto found = std::ranges::find(contexts_, context.name, &Context::name);
  if (found == contexts_.end()) {
    contexts_.push_back(std::move(context));
  } else {
    context.signs = context.signs || found->signs;
    *found = std::move(context);
  }
}

ContextFile ContextFile::outline() const {
  ContextFile same;
  same.path_ = path_;
  same.current_ = current_;
  for (const auto& context : contexts_)
    same.contexts_.push_back({context.name, context.url, Secret(), context.ca_fingerprint, context.signs});
  return same;
}

bool ContextFile::use(std::string_view name) {
  if (name.empty() || find(name) == nullptr) return false;
  current_ = name;
  return true;
}

bool ContextFile::set_signs(std::string_view name, bool signs) {
  const auto found = std::ranges::find(contexts_, name, &Context::name);
  if (found == contexts_.end()) return false;
  found->signs = signs;
  return true;
}

bool ContextFile::remove(std::string_view name) {
  if (std::erase_if(contexts_, [name](const Context& context) { return context.name == name; }) == 0)
    return false;
  if (current_ == name) current_ = contexts_.empty() ? std::string() : contexts_.front().name;
  return true;
}

std::vector<std::string> change_lines(const ContextFile& before, const ContextFile& now) {
  std::vector<std::string> lines;
  const auto* const current = now.find("");
  if (current == nullptr) return lines;
  if (const auto* const same_name = before.find(current->name);
      same_name != nullptr && same_name->url != current->url) {
    lines.push_back(
        fmt::format("the context '{}' now means {}; it was {}", current->name, current->url, same_name->url));
  }
  if (before.current() == current->name) return lines;
  std::string line = fmt::format("commands now go to context '{}' ({})", current->name, current->url);
  if (now.find(before.current()) != nullptr && !before.current().empty())
    line += fmt::format("; back to the one before: outhaul context use {}", before.current());
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace outhaul::cli
