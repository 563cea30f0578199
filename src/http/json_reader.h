// JsonReader: strict reading of one JSON object. Getters never fail on the spot: they note the fault and
// give an empty value; finish() then names every fault at once. Parsing refuses duplicate keys, NUL
// characters, more than max_depth levels and anything after the object.
//
//   OUTHAUL_TRY(reader, JsonReader::parse(body));
//   const auto name = reader.string("name", 64);
//   const auto ttl = reader.find_integer("ttl_seconds", 60, 86'400);
//   OUTHAUL_CHECK(reader.finish());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::http {

class JsonReader {
 public:
  static constexpr int max_depth = 16;
  static constexpr std::size_t max_string_bytes = 64 * 1024;

  // Fails with `invalid` (the byte offset in the details), never repeating the text.
  static Result<JsonReader> parse(ByteView text);
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;
  ~JsonReader();

  bool has(std::string_view key) const;  // present and not null

  // Required: a missing key is a fault, and so is an empty string. `max_bytes` counts UTF-8 bytes.
  std::string string(std::string_view key, std::size_t max_bytes = max_string_bytes);
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most);
  bool boolean(std::string_view key);
  std::vector<std::string> strings(std::string_view key, std::size_t max_items = 1024);
  JsonReader object(std::string_view key);
  std::vector<JsonReader> objects(std::string_view key, std::size_t max_items = 10'000);

  // Optional: absent or null gives an empty optional (or an empty list).
  std::optional<std::string> find_string(std::string_view key, std::size_t max_bytes = max_string_bytes);
  std::optional<std::int64_t> find_integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<bool> find_boolean(std::string_view key);
  std::vector<std::string> find_strings(std::string_view key, std::size_t max_items = 1024);
  std::optional<JsonReader> find_object(std::string_view key);
  // An object whose values are all strings, such as the environment or labels; in the order sent.
  std::vector<std::pair<std::string, std::string>> find_string_map(std::string_view key,
                                                                   std::size_t max_items = 1024);
  // Keys of this object in the order sent.
  std::vector<std::string> keys() const;
  // The caller's own fault with a key ("argv" "must not be empty").
  void refuse(std::string_view key, std::string_view why);

  enum class UnknownKeys { refused, allowed };
  // `invalid` naming every fault, and every key that nobody asked for; covers this reader and all readers
  // made from it. Clients that read a newer server allow unknown keys.
  Result<void> finish(UnknownKeys unknown = UnknownKeys::refused);

 private:
  struct Document;
  struct Node;
  class Asked;
  JsonReader(std::shared_ptr<Document> document, Node* node);
  // Shared by the readers of one document: a child may outlive the reader it came from.
  std::shared_ptr<Document> document_;
  Node* node_ = nullptr;
};

}  // namespace outhaul::http
