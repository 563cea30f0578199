#include "wire/user_order.h"

#include <gtest/gtest.h>

#include <functional>

#include "crypto/user_key.h"
#include "outhaul/v1/task.pb.h"
#include "testing/manual_clock.h"
#include "testing/seeded_random.h"
#include "wire/task_gate.h"

namespace outhaul::wire {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

class AllowAll final : public TaskRules {
 public:
  Result<void> check_owner(const TaskSpec&) const override { return {}; }
  Result<void> check_policy(const TaskSpec&) const override { return {}; }
  Result<void> check_consent(const TaskSpec&) const override { return {}; }
  Result<void> check_capacity(const TaskSpec&) const override {
    return is_full ? fail(ErrorCode::node_full, "no slot") : Result<void>();
  }
  bool is_full = false;
};

// A node that asks for a person's signature, and a hub of whose signing key everything is known.
class SignedTask : public ::testing::Test {
 protected:
  crypto::TrustedKey trusted(const crypto::SigningKey& key) const {
    return {crypto::user_key_id(key.verify_key()), key.verify_key()};
  }
  TaskGate make_gate(std::string name = "alpha") {
    std::vector<TrustedUser> users{{trusted(person_), AccountId()}, {trusted(bound_), bound_account_}};
    TaskGate gate({self_, "example.org", std::move(name), std::move(users)}, rules_,
                  [](const TaskId&) { return std::nullopt; });
    std::vector<crypto::TrustedKey> keys;
    keys.push_back({hub_key_id_, hub_key_.verify_key()});
    gate.trust(std::move(keys));
    return gate;
  }
  // As a person asks for it.
  TaskSpec wish() {
    TaskSpec task;
    task.issuer = "example.org";
    task.audience = self_;
    task.owner = account_;
    task.issued_at = now_;
    task.expires_at = now_ + 10min;
    task.nonce = random_.bytes(task_nonce_bytes);
    task.action = ArgvAction{{"uname", "-a"}};
    task.cwd = "src";
    task.env = {{"COLOUR", "red"}};
    task.timeout = 30s;
    return task;
  }
  Bytes sign(const UserOrder& order) { return sign_user_order(order, person_).value(); }
  Bytes sign(const TaskSpec& wish) { return sign(make_user_order(wish)); }
  // As the hub fills it in.
  TaskSpec task_of(TaskSpec task, Bytes order) {
    task.task_id = TaskId::make(now_, random_);
    task.stream_id = StreamId::make(now_, random_);
    task.issued_at = now_;
    task.expires_at = now_ + 5min;
    task.nonce = random_.bytes(task_nonce_bytes);
    task.fence = {3, 1};
    task.user_order = std::move(order);
    return task;
  }
  GateDecision judge(TaskGate& gate, const TaskSpec& task) {
    return gate.judge(sign_task(task, hub_key_id_, hub_key_).value(), {now_, 0ns});
  }
  ErrorCode refusal(TaskGate& gate, const TaskSpec& task) {
    const auto decision = judge(gate, task);
    EXPECT_FALSE(decision.admitted.has_value());
    EXPECT_FALSE(decision.record.has_value());
    return decision.refusal ? decision.refusal->code() : ErrorCode::internal;
  }

  testing::SeededRandom random_{29};
  WallTime now_ = ManualClock::default_start;
  crypto::SigningKey person_ = crypto::SigningKey::generate(random_);
  crypto::SigningKey bound_ = crypto::SigningKey::generate(random_);
  crypto::SigningKey hub_key_ = crypto::SigningKey::generate(random_);
  KeyId hub_key_id_ = KeyId::make(now_, random_);
  NodeId self_ = NodeId::make(now_, random_);
  AccountId account_ = AccountId::make(now_, random_);
  AccountId bound_account_ = AccountId::make(now_, random_);
  AllowAll rules_;
  TaskGate gate_ = make_gate();
};

// proves C6
TEST_F(SignedTask, WhenAPersonSignedIt_ThenItRunsAndTheSignerIsNamed) {
  const auto order = make_user_order(wish());

  const auto decision = judge(gate_, task_of(order.task, sign(order)));

  ASSERT_TRUE(decision.admitted.has_value());
  EXPECT_EQ(decision.user_key, crypto::user_key_id(person_.verify_key()));
  ASSERT_TRUE(decision.record && decision.record->user);
  EXPECT_EQ(decision.record->user->nonce, order.task.nonce);
}

// The hub's key is in the hands of somebody else: whatever they make of what a person signed, it does not
// run. proves C6
TEST_F(SignedTask, WhenWhoHoldsTheHubsKeyChangesAnything_ThenNothingRuns) {
  using Change = std::function<void(TaskSpec&)>;
  const std::pair<const char*, Change> rows[] = {
      {"another program", [](TaskSpec& task) { task.action = ArgvAction{{"id"}}; }},
      {"one argument more", [](TaskSpec& task) { task.action = ArgvAction{{"uname", "-a", "-r"}}; }},
      {"two arguments as one", [](TaskSpec& task) { task.action = ArgvAction{{"uname -a"}}; }},
      {"a shell line", [](TaskSpec& task) { task.action = ShellAction{"uname -a"}; }},
      {"another value", [](TaskSpec& task) { task.env[0].value = "blue"; }},
      {"a variable more", [](TaskSpec& task) { task.env.push_back({"LD_PRELOAD", "/tmp/x.so"}); }},
      {"no variable", [](TaskSpec& task) { task.env.clear(); }},
      {"another directory", [](TaskSpec& task) { task.cwd = "elsewhere"; }},
      {"no directory", [](TaskSpec& task) { task.cwd.clear(); }},
      {"another workspace", [](TaskSpec& task) { task.workspace = "other"; }},
      {"an input", [this](TaskSpec& task) { task.stdin_stream_id = StreamId::make(now_, random_); }},
      {"no limit", [](TaskSpec& task) { task.timeout.reset(); }},
      {"a longer limit", [](TaskSpec& task) { task.timeout = 31s; }},
      {"more isolation", [](TaskSpec& task) { task.isolation = IsolationLevel::vm; }},
      {"another grace", [](TaskSpec& task) { task.term_grace = 11s; }},
      {"attended", [](TaskSpec& task) { task.is_interactive = true; }},
      {"another account", [this](TaskSpec& task) { task.owner = AccountId::make(now_, random_); }},
  };
  const auto meant = wish();
  const auto order = sign(meant);
  for (const auto& [name, change] : rows) {
    SCOPED_TRACE(name);
    auto task = task_of(meant, order);
    change(task);

    EXPECT_EQ(refusal(gate_, task), ErrorCode::user_signature_invalid);
  }
  EXPECT_TRUE(judge(gate_, task_of(meant, order)).admitted.has_value());
}

// proves C6
TEST_F(SignedTask, WhenTheSignatureIsNotOfATrustedPerson_ThenNothingRuns) {
  const auto meant = wish();
  const auto payload = serialise_user_order(make_user_order(meant));
  const auto own_id = crypto::user_key_id(person_.verify_key());
  const auto envelope_by = [&](std::string_view type, const KeyId& id, const crypto::SigningKey& key) {
    return serialise_envelope(crypto::sign_envelope(type, payload, id, key));
  };
  auto unsigned_order = parse_envelope(sign(meant)).value();
  unsigned_order.signatures.clear();
  auto other_bytes = parse_envelope(sign(meant)).value();
  other_bytes.payload.push_back('\0');
  const std::pair<const char*, Bytes> rows[] = {
      {"by the hub's key", sign_user_order(make_user_order(meant), hub_key_).value()},
      {"by the hub's key under the person's id", envelope_by(user_order_payload_type, own_id, hub_key_)},
      {"signed as a task", envelope_by(task_payload_type, own_id, person_)},
      {"no signature", serialise_envelope(unsigned_order)},
      {"other bytes", serialise_envelope(other_bytes)},
      {"no envelope", "what is this"},
      {"by a key for another account", sign_user_order(make_user_order(meant), bound_).value()},
  };
  for (const auto& [name, order] : rows) {
    SCOPED_TRACE(name);

    EXPECT_EQ(refusal(gate_, task_of(meant, order)), ErrorCode::user_signature_invalid);
  }
  EXPECT_EQ(refusal(gate_, task_of(meant, Bytes())), ErrorCode::user_signature_missing);
}

TEST_F(SignedTask, WhenTheKeyIsForOneAccount_ThenItOrdersForThat) {
  auto meant = wish();
  meant.owner = bound_account_;

  const auto order = sign_user_order(make_user_order(meant), bound_).value();

  EXPECT_TRUE(judge(gate_, task_of(meant, order)).admitted.has_value());
}

// proves C6
TEST_F(SignedTask, WhenItWasSignedForAnotherNode_ThenItDoesNotRunHere) {
  auto meant = wish();
  meant.audience = NodeId::make(now_, random_);
  auto here = task_of(meant, sign(meant));
  here.audience = self_;
  auto named = make_user_order(wish());
  named.node_name = "beta";

  EXPECT_EQ(refusal(gate_, here), ErrorCode::user_signature_invalid);
  EXPECT_EQ(refusal(gate_, task_of(named.task, sign(named))), ErrorCode::user_signature_invalid);
  named.node_name = "alpha";
  EXPECT_TRUE(judge(gate_, task_of(named.task, sign(named))).admitted.has_value());
}

// proves C6
TEST_F(SignedTask, WhenTheHubSendsItAgainAsAnotherTask_ThenItDoesNotRunAgain) {
  const auto meant = wish();
  const auto order = sign(meant);
  const auto record = judge(gate_, task_of(meant, order)).record.value();
  auto restarted = make_gate();
  restarted.restore(parse_gate_record(serialise_gate_record(record)).value());

  EXPECT_EQ(refusal(gate_, task_of(meant, order)), ErrorCode::user_signature_replayed);
  EXPECT_EQ(refusal(restarted, task_of(meant, order)), ErrorCode::user_signature_replayed);
}

// The mark rises past the hub's window while the order is still good.
// proves C6
TEST_F(SignedTask, WhenTheTasksOwnNonceIsForgotten_ThenThePersonsIsNot) {
  auto meant = wish();
  meant.expires_at = now_ + 1h;
  const auto order = sign(meant);
  ASSERT_TRUE(judge(gate_, task_of(meant, order)).admitted.has_value());
  now_ = now_ + 30min;
  const auto later = wish();
  ASSERT_TRUE(judge(gate_, task_of(later, sign(later))).admitted.has_value());

  auto restarted = make_gate();
  for (const auto& record : gate_.live_records()) restarted.restore(record);

  EXPECT_EQ(gate_.live_records().size(), 2U);
  EXPECT_EQ(refusal(restarted, task_of(meant, order)), ErrorCode::user_signature_replayed);
}

// proves C6
TEST_F(SignedTask, WhenTheHubTurnsTheClockBack_ThenAnEndedOrderStaysRefused) {
  const auto start = now_;
  const auto meant = wish();
  const auto order = sign(meant);
  ASSERT_TRUE(judge(gate_, task_of(meant, order)).admitted.has_value());
  now_ = start + 12min;
  const auto later = wish();
  ASSERT_TRUE(judge(gate_, task_of(later, sign(later))).admitted.has_value());
  ASSERT_EQ(gate_.live_records().size(), 1U);

  now_ = start + 8min;

  EXPECT_EQ(refusal(gate_, task_of(meant, order)), ErrorCode::user_signature_invalid);
}

TEST_F(SignedTask, WhenTheOrderIsOutOfItsTime_ThenItDoesNotRun) {
  const auto meant = wish();
  const auto order = sign(meant);
  auto early = wish();
  early.issued_at = now_ + clock_window + 1ns;
  early.expires_at = early.issued_at + 1min;
  now_ = meant.expires_at;
  EXPECT_EQ(refusal(gate_, task_of(meant, order)), ErrorCode::user_signature_invalid);
  now_ = ManualClock::default_start;

  EXPECT_EQ(refusal(gate_, task_of(early, sign(early))), ErrorCode::user_signature_invalid);
  EXPECT_TRUE(judge(gate_, task_of(meant, order)).admitted.has_value());
}

// It has not run: the hub signs the task anew, with the same order.
TEST_F(SignedTask, WhenTheNodeWasFull_ThenTheSameOrderMayComeAgain) {
  const auto meant = wish();
  auto task = task_of(meant, sign(meant));
  rules_.is_full = true;
  ASSERT_EQ(judge(gate_, task).refusal->code(), ErrorCode::node_full);
  rules_.is_full = false;
  task.nonce = random_.bytes(task_nonce_bytes);

  EXPECT_TRUE(judge(gate_, task).admitted.has_value());
  task.nonce = random_.bytes(task_nonce_bytes);
  EXPECT_EQ(refusal(gate_, task), ErrorCode::task_replayed);
}

TEST_F(SignedTask, WhenNobodyAsksForASignature_ThenAnUnsignedTaskRuns) {
  TaskGate open({self_, "example.org", {}, {}}, rules_, [](const TaskId&) { return std::nullopt; });
  open.trust({{hub_key_id_, hub_key_.verify_key()}});

  EXPECT_TRUE(judge(open, task_of(wish(), Bytes())).admitted.has_value());
}

TEST_F(SignedTask, WhenAnOrderIsReadAgain_ThenItIsTheSame) {
  auto order = make_user_order(wish());
  order.node_name = "alpha";
  order.has_stdin = true;

  EXPECT_EQ(parse_user_order(serialise_user_order(order)).value(), order);
}

TEST_F(SignedTask, WhenAnOrderHoldsWhatOnlyAHubFillsIn_ThenItIsMalformed) {
  v1::UserOrder good;
  ASSERT_TRUE(good.ParseFromString(serialise_user_order(make_user_order(wish()))));
  const auto id = TaskId::make(now_, random_).text();
  const auto stream = StreamId::make(now_, random_).text();
  using Change = std::function<void(v1::UserOrder&)>;
  const std::pair<const char*, Change> rows[] = {
      {"task id", [&](v1::UserOrder& order) { order.mutable_task()->set_task_id(id); }},
      {"stream id", [&](v1::UserOrder& order) { order.mutable_task()->set_stream_id(stream); }},
      {"input", [&](v1::UserOrder& order) { order.mutable_task()->set_stdin_stream_id(stream); }},
      {"fence", [](v1::UserOrder& order) { order.mutable_task()->mutable_fence()->set_epoch(1); }},
      {"an order", [](v1::UserOrder& order) { order.mutable_task()->set_user_order("x"); }},
      {"no name", [](v1::UserOrder& order) { order.set_node_name("A node"); }},
      {"a short nonce", [](v1::UserOrder& order) { order.mutable_task()->set_nonce("x"); }},
      {"more than a day",
       [](v1::UserOrder& order) { order.mutable_task()->set_expires_at_ns(std::int64_t{1} << 62); }},
      {"no task", [](v1::UserOrder& order) { order.clear_task(); }},
  };
  ASSERT_TRUE(parse_user_order(good.SerializeAsString()).has_value());
  for (const auto& [name, change] : rows) {
    SCOPED_TRACE(name);
    auto order = good;
    change(order);

    const auto read = parse_user_order(order.SerializeAsString());

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), ErrorCode::task_malformed);
  }
}

}  // namespace
}  // namespace outhaul::wire
