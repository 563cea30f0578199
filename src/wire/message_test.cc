#include "wire/message.h"

#include <gtest/gtest.h>

#include "wire/utf8.h"

namespace outhaul::wire {
namespace {

TEST(MessageParse, WhenBytesAreNoMessage_ThenItIsAViolation) {
  const Bytes garbage = "\xff\xff\xff";

  EXPECT_EQ(parse_control(garbage).error().code(), ErrorCode::protocol_violation);
  EXPECT_EQ(parse_open(garbage).error().code(), ErrorCode::protocol_violation);
  EXPECT_EQ(parse_accept(garbage).error().code(), ErrorCode::protocol_violation);
  EXPECT_EQ(parse_refuse(garbage).error().code(), ErrorCode::protocol_violation);
  EXPECT_EQ(parse_control(Bytes(max_control_bytes + 1, '\0')).error().code(), ErrorCode::protocol_violation);
}

TEST(MessageParse, WhenANewerPeerSaysMore_ThenItIsIgnored) {
  // Field 2000, a string.
  const auto control = parse_control("\x82\x7d\x03new");

  ASSERT_TRUE(control.has_value());
  EXPECT_EQ(control->message_case(), v1::Control::MESSAGE_NOT_SET);
}

TEST(RefuseOf, WhenAnErrorCrossesTheWire_ThenItIsTheSameError) {
  const auto sent =
      Error(ErrorCode::task_replayed, "seen before").with("state", "running").with("stream", "str_x");

  const auto arrived = error_of(parse_refuse(refuse_of(sent).SerializeAsString()).value());

  EXPECT_EQ(arrived.code(), sent.code());
  EXPECT_EQ(arrived.what(), sent.what());
  EXPECT_EQ(arrived.details(), sent.details());
}

// A sentence that protobuf would refuse must not end the session of whoever receives it.
TEST(RefuseOf, WhenTheSentenceIsBrokenOrLong_ThenItStillParses) {
  Error sent(ErrorCode::internal, "caf\xc3\xa9 \xff\n" + std::string(500, 'x'));

  const auto parsed = parse_refuse(refuse_of(sent).SerializeAsString());

  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(error_of(*parsed).what().starts_with("caf\xc3\xa9 ? x"));
  EXPECT_EQ(parsed->message().size(), 200U);
}

TEST(ErrorOf, WhenTheCodeIsUnknown_ThenItCanBeTriedAgain) {
  v1::Refuse refuse;
  refuse.set_code("melted");
  v1::Goodbye goodbye;
  goodbye.set_code("melted");

  EXPECT_EQ(error_of(refuse).error_class(), ErrorClass::retry);
  EXPECT_EQ(error_of(goodbye).code(), ErrorCode::session_lost);
}

TEST(ErrorOf, WhenAPeerSendsManyDetails_ThenTheyAreBounded) {
  v1::Refuse refuse;
  for (int i = 0; i < 1000; ++i)
    (*refuse.mutable_details())["k" + std::to_string(i)] = std::string(1000, 'v');

  const auto error = error_of(refuse);

  EXPECT_EQ(error.details().size(), 16U);
  EXPECT_EQ(error.details()[0].value.size(), 200U);
}

TEST(PrintableUtf8, WhenTextIsCut_ThenNoCharacterIsSplit) {
  EXPECT_EQ(printable_utf8("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(printable_utf8("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(printable_utf8("\x01\x7f\xc0", 9), "  ?");
  EXPECT_TRUE(is_utf8("\xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("\xf0\x9f\x98"));
}

}  // namespace
}  // namespace outhaul::wire
