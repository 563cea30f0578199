#include "wire/message.h"

#include <algorithm>

#include "wire/utf8.h"

namespace outhaul::wire {
namespace {

constexpr std::size_t max_sentence_bytes = 200;
constexpr std::size_t max_details = 16;
constexpr std::size_t max_detail_bytes = 200;

template <class Message>
Result<Message> parse(ByteView bytes, std::size_t max_bytes, const char* noun) {
  if (bytes.size() > max_bytes) {
    return fail(ErrorCode::protocol_violation, std::string(noun) + ": over its size limit");
  }
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::protocol_violation, std::string(noun) + ": not a message of this kind");
  }
  return message;
}

// A code of a newer peer: something was refused, and trying again is all that we can say of it.
ErrorCode known_code(std::string_view word) {
  return find_error_code(word).value_or(ErrorCode::channel_reset);
}

}  // namespace

Result<v1::Control> parse_control(ByteView bytes) {
  return parse<v1::Control>(bytes, max_control_bytes, "control message");
}
Result<v1::Open> parse_open(ByteView bytes) { return parse<v1::Open>(bytes, max_open_bytes, "open"); }
Result<v1::Accept> parse_accept(ByteView bytes) { return parse<v1::Accept>(bytes, max_open_bytes, "accept"); }
Result<v1::Refuse> parse_refuse(ByteView bytes) { return parse<v1::Refuse>(bytes, max_open_bytes, "refuse"); }

v1::Refuse refuse_of(const Error& error) {
  v1::Refuse refuse;
  refuse.set_code(std::string(name_of(error.code())));
  refuse.set_message(printable_utf8(error.what(), max_sentence_bytes));
  for (const auto& detail : error.details()) {
    if (refuse.details().size() == max_details) break;
    (*refuse.mutable_details())[printable_utf8(detail.name, max_detail_bytes)] =
        printable_utf8(detail.value, max_detail_bytes);
  }
  return refuse;
}

Error error_of(const v1::Refuse& refuse) {
  Error error(known_code(refuse.code()), printable_utf8(refuse.message(), max_sentence_bytes));
  // A protobuf map has no order of its own; an Error's details are shown and compared.
  std::vector<ErrorDetail> details;
  for (const auto& [name, value] : refuse.details()) {
    details.push_back({printable_utf8(name, max_detail_bytes), printable_utf8(value, max_detail_bytes)});
  }
  std::ranges::sort(details, {}, &ErrorDetail::name);
  if (details.size() > max_details) details.resize(max_details);
  for (auto& detail : details) error = std::move(error).with(std::move(detail.name), std::move(detail.value));
  return error;
}

v1::Goodbye goodbye_of(const Error& error) {
  v1::Goodbye goodbye;
  goodbye.set_code(std::string(name_of(error.code())));
  goodbye.set_message(printable_utf8(error.what(), max_sentence_bytes));
  return goodbye;
}

Error error_of(const v1::Goodbye& goodbye) {
  const auto code = find_error_code(goodbye.code()).value_or(ErrorCode::session_lost);
  return Error(code, printable_utf8(goodbye.message(), max_sentence_bytes));
}

}  // namespace outhaul::wire
