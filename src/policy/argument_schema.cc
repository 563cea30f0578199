#include "policy/argument_schema.h"

#include <algorithm>
#include <charconv>

namespace outhaul::policy {
namespace {

bool has_parent_part(std::string_view path) {
  while (true) {
    const auto slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == path.npos) return false;
    path.remove_prefix(slash + 1);
  }
}

std::string absolute(const std::string& path, const std::string& directory) {
  if (path.starts_with('/')) return path;
  return path == "." ? directory : directory + "/" + path;
}

bool is_in_range(const std::string& text, const IntegerRange& range) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return false;
  return text == std::to_string(number) && range.least <= number && number <= range.most;
}

struct Place {
  const std::string& directory;
  const ProgramFiles& files;
};

bool accepts_one(const ArgumentForm& form, const std::string& argument, const Place& place) {
  if (const auto* texts = std::get_if<OneOf>(&form)) return std::ranges::count(texts->texts, argument) > 0;
  if (const auto* pattern = std::get_if<TextPattern>(&form)) return pattern->matches(argument);
  if (const auto* range = std::get_if<IntegerRange>(&form)) return is_in_range(argument, *range);
  // A leading dash would be read as an option, not as a path.
  if (argument.empty() || argument.starts_with('-')) return false;
  return is_beneath(argument, std::get<PathBeneath>(form).directory, place.directory, place.files);
}

// Marks each element that may be next when `from` may be: absent ones are stepped over.
void reach(std::vector<bool>& reached, const std::vector<ArgumentElement>& elements, std::size_t from) {
  for (auto at = from; !reached[at]; ++at) {
    reached[at] = true;
    if (at == elements.size() || !elements[at].may_be_absent) return;
  }
}

}  // namespace

bool is_beneath(const std::string& path, const std::string& base, const std::string& directory,
                const ProgramFiles& files) {
  if (has_parent_part(path)) return false;
  const auto real_base = files.real_path(absolute(base, directory));
  const auto real = files.real_path(absolute(path, directory));
  if (!real_base || !real) return false;
  if (*real_base == "/" || *real == *real_base) return true;
  return real->starts_with(*real_base + "/");
}

bool ArgumentSchema::accepts(std::span<const std::string> arguments, const std::string& directory,
                             const ProgramFiles& files) const {
  const Place place{directory, files};
  std::vector<bool> now(elements_.size() + 1, false);
  reach(now, elements_, 0);
  for (const auto& argument : arguments) {
    std::vector<bool> next(elements_.size() + 1, false);
    for (std::size_t at = 0; at < elements_.size(); ++at) {
      if (!now[at] || !accepts_one(elements_[at].form, argument, place)) continue;
      reach(next, elements_, at + 1);
      if (elements_[at].may_repeat) reach(next, elements_, at);
    }
    now = std::move(next);
  }
  return now[elements_.size()];
}

}  // namespace outhaul::policy
