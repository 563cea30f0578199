#include "http/json_check.h"

#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <string>
#include <vector>

namespace outhaul::http {
namespace {

namespace json = boost::json;
using boost::system::error_code;

// Boost.JSON's own error values do not name these two faults; this object remembers which it was.
class CheckHandler {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  const char* fault = nullptr;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
  bool on_object_begin(error_code&) {
    keys_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    keys_.pop_back();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, error_code& error) {
    return check_text(part, error);
  }
  bool on_string(json::string_view last, std::size_t, error_code& error) { return check_text(last, error); }
  bool on_key_part(json::string_view part, std::size_t, error_code& error) {
    key_.append(part.data(), part.size());
    return check_text(part, error);
  }
  bool on_key(json::string_view last, std::size_t, error_code& error) {
    key_.append(last.data(), last.size());
    if (!check_text(last, error)) return false;
    if (!keys_.back().insert(std::exchange(key_, std::string())).second)
      return refuse("a key is given twice", error);
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, error_code&) { return true; }
  bool on_double(double, json::string_view, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

 private:
  bool check_text(json::string_view text, error_code& error) {
    return text.find('\0') == json::string_view::npos || refuse("a NUL character", error);
  }
  bool refuse(const char* what, error_code& error) {
    fault = what;
    error = json::error::syntax;
    return false;
  }
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  std::string key_;
};

}  // namespace

Result<void> check_json(ByteView text, std::size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<CheckHandler> parser(options);
  error_code error;
  const auto parsed = parser.write_some(false, text.data(), text.size(), error);
  if (!error && parsed < text.size()) error = json::error::extra_data;
  if (!error) return {};
  const char* fault = parser.handler().fault;
  if (fault == nullptr && error == json::error::too_deep) fault = "more levels than allowed";
  if (fault == nullptr) fault = "not JSON";
  return std::unexpected(Error(ErrorCode::invalid, std::string(fault) + " at byte " + std::to_string(parsed))
                             .with("offset", std::to_string(parsed)));
}

}  // namespace outhaul::http
