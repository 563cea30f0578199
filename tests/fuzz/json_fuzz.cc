// Any text as a JSON body and as a problem document; every getter on every key.
#include <cstddef>
#include <cstdint>

#include "http/json_reader.h"
#include "http/problem.h"

using namespace outhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(http::parse_problem(500, text));
  auto reader = http::JsonReader::parse(text);
  if (!reader) return 0;
  for (const auto& key : reader->keys()) {
    static_cast<void>(reader->find_string(key));
    static_cast<void>(reader->find_integer(key, 0, 100));
    static_cast<void>(reader->find_boolean(key));
    static_cast<void>(reader->find_strings(key));
    static_cast<void>(reader->find_string_map(key));
    static_cast<void>(reader->find_object(key));
    static_cast<void>(reader->objects(key));
  }
  static_cast<void>(reader->finish());
  return 0;
}
