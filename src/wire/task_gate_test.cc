#include "wire/task_gate.h"

#include <gtest/gtest.h>

#include <map>

#include "testing/test_keys.h"

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

// Fails where it is told to, and notes which checks were asked.
class ScriptedRules final : public TaskRules {
 public:
  Result<void> check_owner(const TaskSpec&) const override { return answer("owner"); }
  Result<void> check_policy(const TaskSpec&) const override { return answer("policy"); }
  Result<void> check_consent(const TaskSpec&) const override { return answer("consent"); }
  Result<void> check_capacity(const TaskSpec&) const override { return answer("capacity"); }

  std::map<std::string, ErrorCode> failures;
  mutable std::vector<std::string> asked;

 private:
  Result<void> answer(const std::string& check) const {
    asked.push_back(check);
    const auto failure = failures.find(check);
    if (failure == failures.end()) return {};
    return fail(failure->second, check + " refuses");
  }
};

class Gate : public ::testing::Test {
 protected:
  Gate() { trust(gate); }
  void trust(TaskGate& which) {
    std::vector<crypto::TrustedKey> keys;
    keys.push_back({key_id, key.verify_key()});
    which.trust(std::move(keys));
  }
  TaskGate make_gate() {
    return {
        {.self = self, .issuer = "example.org"}, rules, [this](const TaskId& id) { return state_of(id); }};
  }
  std::optional<std::string> state_of(const TaskId& id) const {
    const auto found = states.find(id);
    return found == states.end() ? std::nullopt : std::optional(found->second);
  }
  TaskSpec make_spec() {
    TaskSpec spec;
    spec.task_id = TaskId::make(now, random);
    spec.issuer = "example.org";
    spec.audience = self;
    spec.owner = AccountId::make(now, random);
    spec.issued_at = now;
    spec.expires_at = now + 5min;
    spec.nonce = random.bytes(task_nonce_bytes);
    spec.fence = {5, 0};
    spec.action = EchoAction{"hi"};
    spec.stream_id = StreamId::make(now, random);
    return spec;
  }
  Bytes sign(const TaskSpec& spec) { return sign_task(spec, key_id, key).value(); }
  GateDecision judge(const TaskSpec& spec) { return gate.judge(sign(spec), {now, 0ns}); }

  testing::SeededRandom random{11};
  crypto::SigningKey key = crypto::SigningKey::generate(random);
  KeyId key_id = KeyId::make(ManualClock::default_start, random);
  NodeId self = NodeId::make(ManualClock::default_start, random);
  WallTime now = ManualClock::default_start;
  ScriptedRules rules;
  std::map<TaskId, std::string> states;
  TaskGate gate = make_gate();
};

// proves C6
TEST_F(Gate, WhenEverythingHolds_ThenTheTaskIsAdmittedWithARecord) {
  const auto spec = make_spec();

  const auto decision = judge(spec);

  ASSERT_TRUE(decision.admitted.has_value());
  EXPECT_EQ(*decision.admitted, spec);
  ASSERT_TRUE(decision.record.has_value());
  EXPECT_EQ(decision.record->nonce, spec.nonce);
  EXPECT_EQ(decision.record->mark, spec.issued_at);
  EXPECT_EQ(decision.record->fence_epoch, 5U);
  EXPECT_FALSE(decision.refusal.has_value());
  EXPECT_EQ(rules.asked, (std::vector<std::string>{"owner", "policy", "consent", "capacity"}));
}

// Every check fails at once, and one after the other is mended: the first in the order answers.
TEST_F(Gate, WhenManyChecksFail_ThenTheFirstInTheOrderAnswers) {
  TaskSpec newer = make_spec();
  newer.fence.epoch = 9;
  ASSERT_TRUE(judge(newer).admitted.has_value());
  const auto stranger = crypto::SigningKey::generate(random);
  auto spec = make_spec();
  spec.audience = NodeId::make(now, random);
  spec.issued_at = now - 20min;
  spec.expires_at = now - 10min;
  rules.failures = {{"owner", ErrorCode::task_owner_unknown},
                    {"policy", ErrorCode::task_policy_refused},
                    {"consent", ErrorCode::denied},
                    {"capacity", ErrorCode::node_full}};
  const auto code_of = [&](const Bytes& envelope) {
    return gate.judge(envelope, {now, 0ns}).refusal->code();
  };

  EXPECT_EQ(code_of(Bytes(max_envelope_bytes + 1, 'x')), ErrorCode::task_too_large);
  EXPECT_EQ(code_of(sign_task(spec, key_id, stranger).value()), ErrorCode::task_signature_invalid);
  EXPECT_EQ(code_of(sign(spec)), ErrorCode::task_audience_mismatch);
  spec.audience = self;
  EXPECT_EQ(code_of(sign(spec)), ErrorCode::task_expired);
  spec.issued_at = now;
  spec.expires_at = now + 5min;
  const auto used = spec.nonce;
  spec.nonce = newer.nonce;
  EXPECT_EQ(code_of(sign(spec)), ErrorCode::task_replayed);
  spec.nonce = used;
  const auto refused_once = [&](ErrorCode code) {
    spec.task_id = TaskId::make(now, random);
    spec.nonce = random.bytes(task_nonce_bytes);
    EXPECT_EQ(code_of(sign(spec)), code);
  };
  refused_once(ErrorCode::task_owner_unknown);
  rules.failures.erase("owner");
  refused_once(ErrorCode::task_fence_superseded);
  spec.fence.epoch = 9;
  refused_once(ErrorCode::task_policy_refused);
  rules.failures.erase("policy");
  refused_once(ErrorCode::denied);
  rules.failures.erase("consent");
  refused_once(ErrorCode::node_full);
}

TEST_F(Gate, WhenAnotherDeploymentSigned_ThenItIsRefused) {
  auto spec = make_spec();
  spec.issuer = "example.net";

  EXPECT_EQ(judge(spec).refusal->code(), ErrorCode::task_audience_mismatch);
}

// proves C3
TEST_F(Gate, WhenAnEnvelopeComesAgain_ThenItStartsNothingAndNamesTheFirstRun) {
  const auto spec = make_spec();
  ASSERT_TRUE(judge(spec).admitted.has_value());
  states[spec.task_id] = "running";

  const auto again = judge(spec);

  EXPECT_FALSE(again.admitted || again.record);
  ASSERT_TRUE(again.refusal.has_value());
  EXPECT_EQ(again.refusal->code(), ErrorCode::task_replayed);
  EXPECT_EQ(again.refusal->details(),
            (std::vector<ErrorDetail>{
                {"task", spec.task_id.text()}, {"state", "running"}, {"stream", spec.stream_id.text()}}));
}

// proves C3
TEST_F(Gate, WhenTheSameTaskIsSignedAgain_ThenItStartsNothing) {
  auto spec = make_spec();
  ASSERT_TRUE(judge(spec).admitted.has_value());
  spec.nonce = random.bytes(task_nonce_bytes);
  spec.issued_at = now + 1s;

  EXPECT_EQ(judge(spec).refusal->code(), ErrorCode::task_replayed);
}

// proves C6
// proves X18
TEST_F(Gate, WhenTheNodeRestarts_ThenAReplayIsStillRefused) {
  const auto spec = make_spec();
  const auto record = judge(spec).record.value();
  auto restarted = make_gate();
  trust(restarted);
  restarted.restore(parse_gate_record(serialise_gate_record(record)).value());

  const auto again = restarted.judge(sign(spec), {now, 0ns});

  ASSERT_TRUE(again.refusal.has_value());
  EXPECT_EQ(again.refusal->code(), ErrorCode::task_replayed);
  EXPECT_EQ(restarted.mark(), gate.mark());
  EXPECT_EQ(restarted.fence_epoch(), 5U);
}

TEST_F(Gate, WhenAKnownTaskComesAfterItsWindow_ThenItIsAcknowledgedAndNotExpired) {
  const auto spec = make_spec();
  ASSERT_TRUE(judge(spec).admitted.has_value());
  states[spec.task_id] = "exited";
  now = now + 3h;
  ASSERT_TRUE(judge(make_spec()).admitted.has_value());

  EXPECT_EQ(judge(spec).refusal->code(), ErrorCode::task_replayed);
}

TEST_F(Gate, WhenTheDiskIsFull_ThenTheNonceStaysUnused) {
  const auto spec = make_spec();
  rules.failures = {{"capacity", ErrorCode::node_disk_full}};
  const auto refused = judge(spec);
  rules.failures.clear();

  EXPECT_EQ(refused.refusal->code(), ErrorCode::node_disk_full);
  EXPECT_FALSE(refused.record.has_value());
  EXPECT_TRUE(judge(spec).admitted.has_value());
}

// The hub may send the task to another node now: these bytes must start nowhere any more.
// proves C3
TEST_F(Gate, WhenNoSlotIsFree_ThenTheNonceIsUsedAndTheTaskMayComeAgainUnderAnother) {
  auto spec = make_spec();
  rules.failures = {{"capacity", ErrorCode::node_full}};
  const auto refused = judge(spec);
  rules.failures.clear();

  ASSERT_TRUE(refused.record.has_value());
  const auto again = judge(spec);
  EXPECT_EQ(again.refusal->code(), ErrorCode::task_replayed);
  EXPECT_EQ(again.refusal->details().back(), (ErrorDetail{"refused_with", "node_full"}));
  spec.nonce = random.bytes(task_nonce_bytes);
  EXPECT_TRUE(judge(spec).admitted.has_value());
}

TEST_F(Gate, WhenPolicyRefuses_ThenTheNonceIsUsed) {
  const auto spec = make_spec();
  rules.failures = {{"policy", ErrorCode::task_policy_refused}};
  const auto refused = judge(spec);
  rules.failures.clear();

  ASSERT_TRUE(refused.record.has_value());
  EXPECT_EQ(refused.record->refused, ErrorCode::task_policy_refused);
  const auto again = judge(spec);
  EXPECT_EQ(again.refusal->code(), ErrorCode::task_replayed);
  EXPECT_EQ(again.refusal->details()[1].value, "refused");
}

// proves X34
TEST_F(Gate, WhenTheClockIsSeventeenMinutesOff_ThenTheCorrectedTimeDecides) {
  const auto envelope = sign(make_spec());
  for (const auto skew : {17min, -17min}) {
    SCOPED_TRACE(skew.count());
    auto fresh = make_gate();
    trust(fresh);

    const auto corrected_decision = fresh.judge(envelope, {now + skew, -skew});
    auto blind = make_gate();
    trust(blind);
    const auto uncorrected = blind.judge(envelope, {now + skew, std::nullopt});

    EXPECT_TRUE(corrected_decision.admitted.has_value());
    ASSERT_TRUE(uncorrected.refusal.has_value());
    EXPECT_EQ(uncorrected.refusal->code(), ErrorCode::task_expired);
  }
}

// proves X34
TEST_F(Gate, WhenATaskIsOutsideItsWindow_ThenTheRefusalNamesTheSkew) {
  const auto envelope = sign(make_spec());

  const auto decision = gate.judge(envelope, {now + 3h, -2h - 17min});

  ASSERT_TRUE(decision.refusal.has_value());
  EXPECT_EQ(decision.refusal->code(), ErrorCode::task_expired);
  EXPECT_NE(decision.refusal->what().find("2h 17m ahead of the hub's"), std::string::npos)
      << decision.refusal->what();
  EXPECT_EQ(decision.refusal->details(), (std::vector<ErrorDetail>{{"skew_ns", "8220000000000"}}));
}

TEST_F(Gate, WhenTheMeasuredOffsetIsHuge_ThenAtMostAnHourIsCorrected) {
  EXPECT_EQ(corrected({now, 5h}), now + 1h);
  EXPECT_EQ(corrected({now, -5h}), now - 1h);
  EXPECT_EQ(corrected({now, 17min}), now + 17min);
  EXPECT_EQ(corrected({now, std::nullopt}), now);
}

TEST_F(Gate, WhenTimesAreAtTheirEdges_ThenEachEdgeIsExact) {
  const auto admitted_at = [&](WallTime time) {
    auto fresh = make_gate();
    trust(fresh);
    const auto issued = ManualClock::default_start;
    now = issued;
    return fresh.judge(sign(make_spec()), {time, 0ns}).admitted.has_value();
  };
  const auto issued = ManualClock::default_start;

  EXPECT_TRUE(admitted_at(issued + 5min - 1ns));
  EXPECT_FALSE(admitted_at(issued + 5min));
  EXPECT_TRUE(admitted_at(issued - clock_window));
  EXPECT_FALSE(admitted_at(issued - clock_window - 1ns));
}

// proves C6
TEST_F(Gate, WhenTheHubSteersTheClockBack_ThenAnOldEnvelopeIsRefusedByTheMark) {
  auto old_spec = make_spec();
  old_spec.expires_at = now + 2h;
  const auto old_envelope = sign(old_spec);
  ASSERT_TRUE(gate.judge(old_envelope, {now, 0ns}).admitted.has_value());
  const auto start = now;
  now = start + 30min;
  ASSERT_TRUE(judge(make_spec()).admitted.has_value());
  EXPECT_EQ(gate.live_records().size(), 1U);  // the old nonce is forgotten

  const auto replay = gate.judge(old_envelope, {start, 0ns});

  ASSERT_TRUE(replay.refusal.has_value());
  EXPECT_EQ(replay.refusal->code(), ErrorCode::task_expired);
}

TEST_F(Gate, WhenOnlyLiveRecordsAreKept_ThenARestartKnowsAsMuch) {
  std::vector<TaskSpec> specs;
  for (int i = 0; i < 30; ++i) {
    specs.push_back(make_spec());
    specs.back().expires_at = now + 2h;
    ASSERT_TRUE(judge(specs.back()).admitted.has_value());
    now = now + 1min;
  }
  auto restarted = make_gate();
  trust(restarted);
  for (const auto& record : gate.live_records()) restarted.restore(record);

  EXPECT_EQ(restarted.mark(), gate.mark());
  EXPECT_LE(gate.live_records().size(), 6U);
  for (const auto& spec : specs) {
    EXPECT_FALSE(restarted.judge(sign(spec), {now, 0ns}).admitted.has_value());
  }
}

// Whatever the clock and the order: no envelope is ever admitted twice, across restarts.
TEST_F(Gate, WhenClocksAndRestartsAreRandom_ThenNothingIsAdmittedTwice) {
  std::map<TaskId, int> admitted;
  std::vector<Bytes> envelopes;
  std::vector<GateRecord> journal;
  auto current = std::make_unique<TaskGate>(make_gate());
  trust(*current);
  for (int step = 0; step < 3000; ++step) {
    now = now + std::chrono::seconds(random.below(20));
    if (random.below(3) == 0) {
      auto spec = make_spec();
      spec.expires_at = now + std::chrono::seconds(1 + random.below(3600));
      envelopes.push_back(sign(spec));
    }
    if (random.below(50) == 0) {
      journal = current->live_records();
      current = std::make_unique<TaskGate>(make_gate());
      trust(*current);
      for (const auto& record : journal) current->restore(record);
    }
    if (envelopes.empty()) continue;
    const auto steer = std::chrono::seconds(static_cast<std::int64_t>(random.below(8000)) - 4000);
    const auto decision = current->judge(envelopes[random.below(envelopes.size())], {now, steer});
    if (decision.admitted) {
      EXPECT_EQ(++admitted[decision.admitted->task_id], 1);
    }
  }
  EXPECT_GT(admitted.size(), 50U);
}

TEST(GateRecordParse, WhenItIsNotAsWeWriteIt_ThenTheJournalIsCorrupt) {
  for (const Bytes& bytes : {Bytes(), Bytes("\xff"), Bytes("hello")}) {
    const auto record = parse_gate_record(bytes);

    ASSERT_FALSE(record.has_value());
    EXPECT_EQ(record.error().code(), ErrorCode::journal_corrupt);
  }
}

}  // namespace
}  // namespace outhaul::wire
