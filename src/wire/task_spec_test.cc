#include "wire/task_spec.h"

#include <gtest/gtest.h>

#include <functional>

#include "outhaul/v1/task.pb.h"
#include "testing/test_keys.h"

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

TaskSpec sample_spec() {
  testing::SeededRandom random(5);
  const auto now = ManualClock::default_start;
  TaskSpec spec;
  spec.task_id = TaskId::make(now, random);
  spec.issuer = "example.org";
  spec.audience = NodeId::make(now, random);
  spec.owner = AccountId::make(now, random);
  spec.issued_at = now;
  spec.expires_at = now + 5min;
  spec.nonce = random.bytes(task_nonce_bytes);
  spec.fence = {3, 7};
  spec.action = ArgvAction{{"printf", "%s\n", "grüße", ""}};
  spec.cwd = "src/lib";
  spec.env = {{"LANG", "C.UTF-8"}, {"_X1", ""}};
  spec.timeout = 90s;
  spec.isolation = IsolationLevel::native;
  spec.stream_id = StreamId::make(now, random);
  spec.stdin_stream_id = StreamId::make(now, random);
  spec.term_grace = 3s;
  spec.trace = TraceContext::make(random);
  spec.is_interactive = true;
  return spec;
}

// The message that `spec` becomes, so that a test can spoil what the C++ type cannot say.
v1::TaskSpec message_of(const TaskSpec& spec) {
  v1::TaskSpec message;
  EXPECT_TRUE(message.ParseFromString(serialise_task_spec(spec)));
  return message;
}

TEST(TaskSpecParse, WhenItIsInOrder_ThenItRoundTrips) {
  const std::vector<TaskAction> actions = {ArgvAction{{"true"}}, ShellAction{"seq 10 | wc"},
                                           EchoAction{"hello"}, EchoAction{}};
  for (const auto& action : actions) {
    auto spec = sample_spec();
    spec.action = action;

    const auto parsed = parse_task_spec(serialise_task_spec(spec));

    ASSERT_TRUE(parsed.has_value()) << parsed.error().what();
    EXPECT_EQ(*parsed, spec);
  }
}

TEST(TaskSpecParse, WhenOptionalFieldsAreAbsent_ThenTheyStayAbsent) {
  auto spec = sample_spec();
  spec.cwd.clear();
  spec.env.clear();
  spec.timeout.reset();
  spec.stdin_stream_id.reset();
  spec.trace.reset();
  spec.is_interactive = false;

  const auto parsed = parse_task_spec(serialise_task_spec(spec));

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, spec);
}

TEST(TaskSpecParse, WhenAFieldIsUnknown_ThenItIsIgnored) {
  const auto spec = sample_spec();
  // Field 2000, a string.
  const auto parsed = parse_task_spec(serialise_task_spec(spec) + "\x82\x7d\x03new");

  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, spec);
}

// Each row spoils one field of a message that would be taken.
TEST(TaskSpecParse, WhenAFieldBreaksItsRule_ThenItIsMalformedAndNotEchoed) {
  using Message = v1::TaskSpec;
  const std::string nul("a\0b", 3);
  const std::vector<std::pair<const char*, std::function<void(Message&)>>> rows = {
      {"task_id absent", [](Message& m) { m.clear_task_id(); }},
      {"task_id of a node", [](Message& m) { m.set_task_id(m.audience()); }},
      {"task_id in capitals", [](Message& m) { m.set_task_id("task_01HZZZZZZZZZZZZZZZZZZZZZZZ"); }},
      {"issuer absent", [](Message& m) { m.clear_issuer(); }},
      {"issuer no name", [](Message& m) { m.set_issuer("hunter2 hunter2"); }},
      {"audience absent", [](Message& m) { m.clear_audience(); }},
      {"owner absent", [](Message& m) { m.clear_owner(); }},
      {"owner of another kind", [](Message& m) { m.set_owner(m.task_id()); }},
      {"stream absent", [](Message& m) { m.clear_stream_id(); }},
      {"stdin is the output", [](Message& m) { m.set_stdin_stream_id(m.stream_id()); }},
      {"stdin no stream", [](Message& m) { m.set_stdin_stream_id("hunter2"); }},
      {"nonce absent", [](Message& m) { m.clear_nonce(); }},
      {"nonce short", [](Message& m) { m.mutable_nonce()->pop_back(); }},
      {"nonce long", [](Message& m) { m.mutable_nonce()->push_back('x'); }},
      {"issued before 1970", [](Message& m) { m.set_issued_at_ns(-1); }},
      {"expired at once", [](Message& m) { m.set_expires_at_ns(m.issued_at_ns()); }},
      {"expires before it is issued", [](Message& m) { m.set_expires_at_ns(1); }},
      {"valid for two days",
       [](Message& m) { m.set_expires_at_ns(m.issued_at_ns() + 2 * 86'400'000'000'000); }},
      {"times at the end of time",
       [](Message& m) {
         m.set_issued_at_ns(INT64_MAX - 1);
         m.set_expires_at_ns(INT64_MAX);
       }},
      {"target absent", [](Message& m) { m.clear_target(); }},
      {"target a tool", [](Message& m) { m.set_target("tool:hunter2"); }},
      {"target a path", [](Message& m) { m.set_target("workspace:../hunter2"); }},
      {"no action", [](Message& m) { m.clear_action(); }},
      {"argv empty", [](Message& m) { m.mutable_argv()->clear_arg(); }},
      {"argv without a program", [](Message& m) { m.mutable_argv()->set_arg(0, ""); }},
      {"argv with NUL", [&](Message& m) { m.mutable_argv()->add_arg(nul); }},
      {"argv too long", [](Message& m) { m.mutable_argv()->add_arg(std::string(max_argument_bytes, 'x')); }},
      {"argv too many",
       [](Message& m) {
         for (std::size_t i = 0; i < max_arguments; ++i) m.mutable_argv()->add_arg("x");
       }},
      {"shell empty", [](Message& m) { m.set_shell(""); }},
      {"shell with NUL", [&](Message& m) { m.set_shell(nul); }},
      {"shell too long", [](Message& m) { m.set_shell(std::string(max_argument_bytes, 'x')); }},
      {"echo too long", [](Message& m) { m.mutable_echo()->set_text(std::string(max_echo_bytes + 1, 'x')); }},
      {"cwd absolute", [](Message& m) { m.set_cwd("/etc"); }},
      {"cwd up", [](Message& m) { m.set_cwd(".."); }},
      {"cwd up inside", [](Message& m) { m.set_cwd("a/../../b"); }},
      {"cwd up at the end", [](Message& m) { m.set_cwd("a/.."); }},
      {"cwd dot", [](Message& m) { m.set_cwd("./a"); }},
      {"cwd empty part", [](Message& m) { m.set_cwd("a//b"); }},
      {"cwd slash at the end", [](Message& m) { m.set_cwd("a/"); }},
      {"cwd with NUL", [&](Message& m) { m.set_cwd(nul); }},
      {"cwd too long", [](Message& m) { m.set_cwd(std::string(max_cwd_bytes + 1, 'x')); }},
      {"env without a name", [](Message& m) { m.add_env()->set_value("x"); }},
      {"env with =", [](Message& m) { m.add_env()->set_name("A=B"); }},
      {"env that starts with a digit", [](Message& m) { m.add_env()->set_name("1A"); }},
      {"env with a space", [](Message& m) { m.add_env()->set_name("A "); }},
      {"env with a function", [](Message& m) { m.add_env()->set_name("BASH_FUNC_x%%"); }},
      {"env name too long",
       [](Message& m) { m.add_env()->set_name(std::string(max_env_name_bytes + 1, 'A')); }},
      {"env value with NUL",
       [&](Message& m) {
         auto* e = m.add_env();
         e->set_name("A");
         e->set_value(nul);
       }},
      {"env value too long",
       [](Message& m) {
         auto* e = m.add_env();
         e->set_name("A");
         e->set_value(std::string(max_argument_bytes, 'x'));
       }},
      {"env twice",
       [](Message& m) {
         m.add_env()->set_name("A");
         m.add_env()->set_name("A");
       }},
      {"env too many",
       [](Message& m) {
         for (std::size_t i = 0; i <= max_env_vars; ++i) m.add_env()->set_name("A" + std::to_string(i));
       }},
      {"timeout negative", [](Message& m) { m.set_timeout_ns(-1); }},
      {"timeout of a year", [](Message& m) { m.set_timeout_ns(365 * 86'400'000'000'000); }},
      {"isolation absent", [](Message& m) { m.clear_isolation(); }},
      {"isolation unknown", [](Message& m) { m.set_isolation("hunter2"); }},
      {"grace negative", [](Message& m) { m.set_term_grace_ns(-1); }},
      {"grace of an hour", [](Message& m) { m.set_term_grace_ns(3'600'000'000'000); }},
      {"traceparent", [](Message& m) { m.set_traceparent("00-hunter2"); }},
  };
  for (const auto& [reason, spoil] : rows) {
    SCOPED_TRACE(reason);
    auto message = message_of(sample_spec());
    spoil(message);

    const auto parsed = parse_task_spec(message.SerializeAsString());

    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), ErrorCode::task_malformed);
    EXPECT_EQ(parsed.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(TaskSpecParse, WhenBytesAreNoMessage_ThenItIsMalformed) {
  const auto whole = serialise_task_spec(sample_spec());
  for (const Bytes& bytes :
       {Bytes(), Bytes("\xff"), Bytes(300'000, '\0'), whole.substr(0, whole.size() - 1)}) {
    const auto parsed = parse_task_spec(bytes);

    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code(), ErrorCode::task_malformed);
  }
}

TEST(TaskSpecCheck, WhenTextIsNotUtf8_ThenItIsInvalidBeforeItIsSigned) {
  for (const std::string_view text :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\xc3", "\x80"}) {
    auto spec = sample_spec();
    spec.action = ArgvAction{{"cat", std::string(text)}};

    const auto checked = check_task_spec(spec);

    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error().code(), ErrorCode::invalid);
    EXPECT_NE(checked.error().what().find("UTF-8"), std::string::npos);
  }
}

class TaskEnvelope : public ::testing::Test {
 protected:
  TaskEnvelope() { trusted.push_back({key_id, key.verify_key()}); }

  testing::SeededRandom random{9};
  crypto::SigningKey key = crypto::SigningKey::generate(random);
  KeyId key_id = KeyId::make(ManualClock::default_start, random);
  std::vector<crypto::TrustedKey> trusted;
};

// proves C6
TEST_F(TaskEnvelope, WhenTheSignatureHolds_ThenTheSpecIsRead) {
  const auto spec = sample_spec();
  const auto envelope = sign_task(spec, key_id, key).value();

  const auto opened = open_task_envelope(envelope, trusted);

  ASSERT_TRUE(opened.has_value()) << opened.error().what();
  EXPECT_EQ(*opened, spec);
}

// proves C6
TEST_F(TaskEnvelope, WhenAnyByteOfItChanges_ThenItNeverReadsAsAnotherTask) {
  const auto spec = sample_spec();
  const auto envelope = sign_task(spec, key_id, key).value();
  for (std::size_t at = 0; at < envelope.size(); ++at) {
    SCOPED_TRACE(at);
    auto changed = envelope;
    changed[at] = static_cast<char>(changed[at] ^ 1);

    const auto opened = open_task_envelope(changed, trusted);

    EXPECT_FALSE(opened.has_value());
  }
}

TEST_F(TaskEnvelope, WhenItIsSignedByNobodyWeTrust_ThenItIsRefused) {
  const auto stranger = crypto::SigningKey::generate(random);
  auto unsigned_envelope = parse_envelope(sign_task(sample_spec(), key_id, key).value()).value();
  unsigned_envelope.signatures.clear();
  auto other_type = crypto::sign_envelope("text/plain", serialise_task_spec(sample_spec()), key_id, key);

  for (const auto& envelope : {sign_task(sample_spec(), key_id, stranger).value(),
                               serialise_envelope(unsigned_envelope), serialise_envelope(other_type)}) {
    const auto opened = open_task_envelope(envelope, trusted);

    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), ErrorCode::task_signature_invalid);
  }
  EXPECT_FALSE(open_task_envelope(sign_task(sample_spec(), key_id, key).value(), {}).has_value());
}

TEST_F(TaskEnvelope, WhenItIsTooLarge_ThenBothSidesSayTheLimit) {
  auto spec = sample_spec();
  spec.action =
      ArgvAction{{"x", std::string(100'000, 'a'), std::string(100'000, 'b'), std::string(100'000, 'c')}};

  const auto is_signed = sign_task(spec, key_id, key);
  const auto opened = open_task_envelope(Bytes(max_envelope_bytes + 1, 'x'), trusted);

  ASSERT_FALSE(is_signed.has_value());
  EXPECT_EQ(is_signed.error().code(), ErrorCode::task_too_large);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), ErrorCode::task_too_large);
}

TEST_F(TaskEnvelope, WhenAnUnfitSpecIsSigned_ThenItIsRefusedBefore) {
  auto spec = sample_spec();
  spec.cwd = "../..";

  const auto is_signed = sign_task(spec, key_id, key);

  ASSERT_FALSE(is_signed.has_value());
  EXPECT_EQ(is_signed.error().code(), ErrorCode::invalid);
}

}  // namespace
}  // namespace outhaul::wire
