// Parsing of the protobuf messages that a peer sends. Each fails with `protocol_violation` and repeats
// nothing of what it was given. Unknown fields are ignored.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "outhaul/v1/session.pb.h"

namespace outhaul::wire {

// A whole message of channel 0, reassembled.
inline constexpr std::size_t max_control_bytes = 1024 * 1024;
// An Open carries an envelope of up to max_envelope_bytes (wire/task_spec.h).
inline constexpr std::size_t max_open_bytes = 288 * 1024;

// A Control without a message that this version knows is legal (`message_case()` is MESSAGE_NOT_SET):
// a newer peer may say more than we understand.
Result<v1::Control> parse_control(ByteView bytes);
Result<v1::Open> parse_open(ByteView bytes);
Result<v1::Accept> parse_accept(ByteView bytes);
Result<v1::Refuse> parse_refuse(ByteView bytes);

// A Refuse of this error, and the error that a peer's Refuse stands for. A code that this version does
// not know becomes channel_reset with the class `retry`. The message is cut to 200 bytes and cleaned of
// control characters.
v1::Refuse refuse_of(const Error& error);
Error error_of(const v1::Refuse& refuse);
v1::Goodbye goodbye_of(const Error& error);
Error error_of(const v1::Goodbye& goodbye);

}  // namespace outhaul::wire
