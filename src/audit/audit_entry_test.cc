#include "audit/audit_entry.h"

#include <gtest/gtest.h>

#include <set>

#include "outhaul/v1/audit.pb.h"

namespace outhaul::audit {
namespace {

AuditEntry sample() {
  auto entry = AuditEntry(AuditAction::task_refused, "hub", "task_x")
                   .with("isolation", "trusted")
                   .refused_by(Error(ErrorCode::node_full, "no free slot"));
  entry.time = {1'700'000'000'000'000'000};
  return entry;
}

TEST(AuditEntry, WhenWritten_ThenItReadsTheSame) {
  const auto entry = sample();

  const auto read = parse_entry(serialise_entry(entry));

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, entry);
  EXPECT_EQ(read->code, "node_full");
  EXPECT_EQ(read->outcome, AuditOutcome::refused);
}

TEST(AuditEntry, WhenTextsAreTooLongOrBroken_ThenTheyAreMadeToFit) {
  AuditEntry entry(AuditAction::request_refused, std::string(1000, 'a'), "line\nfeed\xff");
  for (int i = 0; i < 40; ++i) entry = std::move(entry).with("n", std::string(5000, 'v'));
  entry.time = {1};

  const auto read = parse_entry(serialise_entry(entry));

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->actor.size(), AuditEntry::max_text_bytes);
  EXPECT_EQ(read->subject, "line feed?");
  EXPECT_EQ(read->fields.size(), AuditEntry::max_fields);
  EXPECT_EQ(read->fields.front().value.size(), AuditEntry::max_value_bytes);
}

TEST(AuditEntry, WhenMessagesBreakARule_ThenTheyAreRefused) {
  struct Row {
    const char* name;
    void (*spoil)(v1::AuditEntry&);
  };
  constexpr Row rows[] = {
      {"no action", [](auto& m) { m.clear_action(); }},
      {"long action", [](auto& m) { m.set_action(std::string(257, 'x')); }},
      {"time before 1970", [](auto& m) { m.set_time_ns(-1); }},
      {"no outcome", [](auto& m) { m.clear_outcome(); }},
      {"unknown outcome", [](auto& m) { m.set_outcome(static_cast<v1::AuditEntry::Outcome>(9)); }},
      {"long actor", [](auto& m) { m.set_actor(std::string(257, 'x')); }},
      {"long subject", [](auto& m) { m.set_subject(std::string(257, 'x')); }},
      {"long code", [](auto& m) { m.set_code(std::string(257, 'x')); }},
      {"field without a name", [](auto& m) { m.mutable_fields(0)->clear_name(); }},
      {"long value", [](auto& m) { m.mutable_fields(0)->set_value(std::string(1025, 'x')); }},
      {"many fields",
       [](auto& m) {
         for (int i = 0; i < 17; ++i) m.add_fields()->set_name("n");
       }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    v1::AuditEntry message;
    ASSERT_TRUE(message.ParseFromString(serialise_entry(sample())));
    row.spoil(message);

    const auto read = parse_entry(message.SerializeAsString());

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::protocol_violation);
  }
  EXPECT_FALSE(parse_entry("\xff").has_value());
  EXPECT_FALSE(parse_entry("").has_value());
}

TEST(AuditAction, WhenNamed_ThenEveryWordIsUniqueAndFound) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(AuditAction::node_removed); ++i) {
    const auto action = static_cast<AuditAction>(i);
    EXPECT_TRUE(words.insert(name_of(action)).second) << name_of(action);
    EXPECT_EQ(find_action(name_of(action)), action);
  }
  EXPECT_FALSE(find_action("task.exploded").has_value());
  EXPECT_FALSE(find_action("").has_value());
}

}  // namespace
}  // namespace outhaul::audit
