#include "http/json_reader.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <deque>
#include <set>

#include "http/json_check.h"
#include "http/utf8.h"

namespace outhaul::http {
namespace {

namespace json = boost::json;

constexpr std::size_t max_shown_key_bytes = 64;

// A key as it may stand in a message: it came from a peer.
std::string shown(std::string_view key) {
  std::string text(key.substr(0, max_shown_key_bytes));
  std::ranges::replace_if(text, [](char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  return std::nullopt;
}

}  // namespace

struct JsonReader::Node {
  const json::object* object = nullptr;  // null: the value was missing or no object, which is noted already
  std::string path;                      // "limits." before each key
  std::set<std::string, std::less<>> asked;
};

struct JsonReader::Document {
  struct Fault {
    std::string key;
    std::string why;
  };
  json::value root;
  std::deque<Node> nodes;  // stable addresses
  std::vector<Fault> faults;

  void note(const Node& node, std::string_view key, std::string why) {
    faults.push_back({node.path + shown(key), std::move(why)});
  }
  Node* add(const json::value* value, std::string path) {
    return &nodes.emplace_back(Node{
        .object = value != nullptr ? value->if_object() : nullptr, .path = std::move(path), .asked = {}});
  }
  void note_unknown_keys();
  Error take_faults() const;
};

namespace {

// A misspelt key helps when it is repeated; anything longer may be a secret in the wrong place.
std::string shown_key(std::string_view key) {
  constexpr std::size_t max_shown_bytes = 32;
  const bool is_word = std::ranges::all_of(key, [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  });
  if (is_word && key.size() <= max_shown_bytes) return std::string(key);
  return "a key of " + std::to_string(key.size()) + " bytes";
}

}  // namespace

void JsonReader::Document::note_unknown_keys() {
  for (const auto& node : nodes) {
    if (node.object == nullptr) continue;
    for (const auto& member : *node.object) {
      const std::string_view key(member.key().data(), member.key().size());
      if (!node.asked.contains(key)) note(node, shown_key(key), "is no known key");
    }
  }
}

Error JsonReader::Document::take_faults() const {
  std::string what;
  for (const auto& fault : faults) {
    if (&fault != &faults.front()) what.append("; ");
    what.append(fault.key).append(" ").append(fault.why);
  }
  Error error(ErrorCode::invalid, std::move(what));
  for (const auto& fault : faults) error = std::move(error).with(fault.key, fault.why);
  return error;
}

// What one getter works on: the value of a key, or null with the fault noted where it had to be there.
class JsonReader::Asked {
 public:
  Asked(JsonReader& reader, std::string_view key, bool is_required) : reader_(reader), key_(key) {
    if (reader.node_->object == nullptr) return;
    reader.node_->asked.emplace(key);
    const auto* found = reader.node_->object->if_contains(json::string_view(key.data(), key.size()));
    if (found != nullptr && !found->is_null())
      value_ = found;
    else if (is_required)
      note("is missing");
  }
  const json::value* value() const { return value_; }
  void note(std::string why) const { reader_.document_->note(*reader_.node_, key_, std::move(why)); }
  std::string child_path() const { return reader_.node_->path + shown(key_) + "."; }

  std::optional<std::string> text(std::size_t max_bytes) const {
    if (value_ == nullptr) return std::nullopt;
    return text_of(*value_, max_bytes);
  }
  std::optional<std::string> text_of(const json::value& value, std::size_t max_bytes) const {
    const auto* text = value.if_string();
    if (text == nullptr)
      note("must be a string");
    else if (text->size() > max_bytes)
      note("must have at most " + std::to_string(max_bytes) + " bytes");
    else
      return std::string(text->data(), text->size());
    return std::nullopt;
  }
  std::optional<std::int64_t> integer(std::int64_t least, std::int64_t most) const {
    if (value_ == nullptr) return std::nullopt;
    const auto number = integer_of(*value_);
    if (number && *number >= least && *number <= most) return number;
    note("must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  std::optional<bool> boolean() const {
    if (value_ == nullptr) return std::nullopt;
    if (value_->is_bool()) return value_->get_bool();
    note("must be true or false");
    return std::nullopt;
  }
  const json::array* array(std::size_t max_items) const {
    if (value_ == nullptr) return nullptr;
    const auto* items = value_->if_array();
    if (items == nullptr)
      note("must be a list");
    else if (items->size() > max_items)
      note("must have at most " + std::to_string(max_items) + " items");
    else
      return items;
    return nullptr;
  }
  const json::object* object() const {
    if (value_ == nullptr) return nullptr;
    const auto* members = value_->if_object();
    if (members == nullptr) note("must be an object");
    return members;
  }
  std::vector<std::string> strings(std::size_t max_items) const {
    std::vector<std::string> texts;
    const auto* items = array(max_items);
    if (items == nullptr) return texts;
    for (const auto& item : *items) {
      auto text = text_of(item, max_string_bytes);
      if (!text) break;  // one fault a list is enough
      texts.push_back(std::move(*text));
    }
    return texts;
  }

 private:
  JsonReader& reader_;
  std::string_view key_;
  const json::value* value_ = nullptr;
};

Result<JsonReader> JsonReader::parse(ByteView text) {
  OUTHAUL_CHECK(check_json(text, max_depth));
  auto document = std::make_shared<Document>();
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = max_depth;
  document->root = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return fail(ErrorCode::invalid, "not JSON");
  if (!document->root.is_object()) return fail(ErrorCode::invalid, "the JSON must be an object");
  Node* root = document->add(&document->root, "");
  return JsonReader(std::move(document), root);
}

JsonReader::JsonReader(std::shared_ptr<Document> document, Node* node)
    : document_(std::move(document)), node_(node) {}
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;
JsonReader::~JsonReader() = default;

bool JsonReader::has(std::string_view key) const {
  if (node_->object == nullptr) return false;
  const auto* found = node_->object->if_contains(json::string_view(key.data(), key.size()));
  return found != nullptr && !found->is_null();
}

std::string JsonReader::string(std::string_view key, std::size_t max_bytes) {
  const Asked asked(*this, key, true);
  auto text = asked.text(max_bytes);
  if (text && text->empty()) asked.note("must not be empty");
  return std::move(text).value_or(std::string());
}

std::int64_t JsonReader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  return Asked(*this, key, true).integer(least, most).value_or(least);
}

bool JsonReader::boolean(std::string_view key) { return Asked(*this, key, true).boolean().value_or(false); }

std::vector<std::string> JsonReader::strings(std::string_view key, std::size_t max_items) {
  return Asked(*this, key, true).strings(max_items);
}

JsonReader JsonReader::object(std::string_view key) {
  const Asked asked(*this, key, true);
  static_cast<void>(asked.object());
  return JsonReader(document_, document_->add(asked.value(), asked.child_path()));
}

std::vector<JsonReader> JsonReader::objects(std::string_view key, std::size_t max_items) {
  const Asked asked(*this, key, true);
  std::vector<JsonReader> readers;
  const auto* items = asked.array(max_items);
  if (items == nullptr) return readers;
  for (const auto& item : *items) {
    if (!item.is_object()) {
      asked.note("must be a list of objects");
      break;
    }
    auto path = asked.child_path() + std::to_string(readers.size()) + ".";
    readers.push_back(JsonReader(document_, document_->add(&item, std::move(path))));
  }
  return readers;
}

std::optional<std::string> JsonReader::find_string(std::string_view key, std::size_t max_bytes) {
  return Asked(*this, key, false).text(max_bytes);
}

std::optional<std::int64_t> JsonReader::find_integer(std::string_view key, std::int64_t least,
                                                     std::int64_t most) {
  return Asked(*this, key, false).integer(least, most);
}

std::optional<bool> JsonReader::find_boolean(std::string_view key) {
  return Asked(*this, key, false).boolean();
}

std::vector<std::string> JsonReader::find_strings(std::string_view key, std::size_t max_items) {
  return Asked(*this, key, false).strings(max_items);
}

std::optional<JsonReader> JsonReader::find_object(std::string_view key) {
  const Asked asked(*this, key, false);
  if (asked.object() == nullptr) return std::nullopt;
  return JsonReader(document_, document_->add(asked.value(), asked.child_path()));
}

std::vector<std::pair<std::string, std::string>> JsonReader::find_string_map(std::string_view key,
                                                                             std::size_t max_items) {
  const Asked asked(*this, key, false);
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto* members = asked.object();
  if (members == nullptr) return pairs;
  if (members->size() > max_items) {
    asked.note("must have at most " + std::to_string(max_items) + " entries");
    return pairs;
  }
  for (const auto& member : *members) {
    auto text = asked.text_of(member.value(), max_string_bytes);
    if (!text) break;
    pairs.emplace_back(std::string(member.key().data(), member.key().size()), std::move(*text));
  }
  return pairs;
}

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> names;
  if (node_->object == nullptr) return names;
  for (const auto& member : *node_->object) names.emplace_back(member.key().data(), member.key().size());
  return names;
}

void JsonReader::refuse(std::string_view key, std::string_view why) {
  document_->note(*node_, key, std::string(why));
}

Result<void> JsonReader::finish(UnknownKeys unknown) {
  if (unknown == UnknownKeys::refused) document_->note_unknown_keys();
  if (document_->faults.empty()) return {};
  return fail(document_->take_faults());
}

}  // namespace outhaul::http
