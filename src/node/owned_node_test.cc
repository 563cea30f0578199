// What a node does for its owner: policy, questions, lock.
#include "node/owner/owner_requests.h"
#include "testing/node_fixture.h"

namespace outhaul::node {
namespace {

// A node whose owner has a policy: `hello` and `slow` may run once somebody said yes, `denied` never.
class OwnedNodeTest : public NodeTest {
 protected:
  OwnedNodeTest() {
    machine_.teach("denied", {"out=denied"});
    for (const auto* name : {"sh", "hello", "slow", "denied"}) files_.put(std::string("/bin/") + name, name);
    const auto policy = policy::parse_policy(policy_text, "policy.yaml");
    settings_.policy = *policy;
  }
  static constexpr const char* policy_text = R"(version: 1
mode: PERMISSIVE
deny: [denied]
executables:
  - {path: /bin/hello, ask: once}
  - {path: /bin/slow, ask: always}
)";

  // All of one account, for an answer is to one.
  wire::TaskSpec shell(std::string line) {
    auto spec = NodeTest::shell(std::move(line));
    spec.owner = owner_;
    return spec;
  }
  std::optional<Result<void>> answer(const wire::TaskSpec& task, Answer answer) {
    std::optional<Result<void>> outcome;
    TaskGroup group(io_.get_executor());
    group.spawn(
        [&]() -> Task<void> { outcome = co_await life_->node.answer(task.task_id, answer, "a test"); });
    settle();
    return outcome;
  }
  std::string owner_says(std::string request) {
    std::string answer;
    TaskGroup group(io_.get_executor());
    group.spawn(
        [&]() -> Task<void> { answer = co_await serve_owner_request(life_->node, std::move(request)); });
    settle();
    return answer;
  }
  bool is_asked(const wire::TaskSpec& task) {
    const auto* question = life_->node.consents().find(task.task_id);
    return question != nullptr && !question->answer;
  }
  std::optional<ErrorCode> failure_of(const wire::TaskSpec& task) {
    const auto* result = result_of(task);
    const auto* failed = result != nullptr ? std::get_if<wire::Failed>(&result->end) : nullptr;
    return failed != nullptr ? std::optional(failed->code) : std::nullopt;
  }
  bool has_started(const wire::TaskSpec& task) { return machine_.starts().contains(task.task_id); }

  AccountId owner_ = deployment_.make_id<AccountId>();
};

// proves C7
TEST_F(OwnedNodeTest, WhenATaskIsAgainstThePolicy_ThenTheHubLearnsNoReasonAndTheOwnerDoes) {
  live();
  const auto task = shell("denied");

  hub_.dispatch(task);
  settle();

  EXPECT_EQ(refusal_of(task), ErrorCode::task_policy_refused);
  EXPECT_FALSE(has_started(task));
  const auto answer = hub_.answers().find(task.task_id);
  EXPECT_EQ(answer->second.error().what().find("denied"), std::string::npos);
  EXPECT_NE(lines_.text.find("`deny` lists denied"), std::string::npos);
}

// proves C8
TEST_F(OwnedNodeTest, WhenAPolicyAsks_ThenNothingStartsBeforeTheAnswerAndTheAnswerStartsIt) {
  live();
  const auto task = shell("hello");

  hub_.dispatch(task);
  settle();

  EXPECT_TRUE(is_asked(task));
  EXPECT_FALSE(has_started(task));
  EXPECT_TRUE(answer(task, Answer::once)->has_value());
  settle();
  EXPECT_TRUE(has_started(task));
  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(result_of(task)->end, wire::TaskEnd(wire::Exited{3}));
  EXPECT_TRUE(life_->node.consents().questions().empty());
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheOwnerDecides_ThenTheAuditLogSaysWhatWasAskedAndAnswered) {
  live();
  const auto given = shell("hello");
  const auto withheld = shell("slow");
  const auto late = shell("hello");
  hub_.dispatch(given);
  hub_.dispatch(withheld);
  hub_.dispatch(late);
  settle();
  ASSERT_TRUE(answer(given, Answer::once)->has_value());
  ASSERT_TRUE(answer(withheld, Answer::never)->has_value());
  lock_.notice = LockNotice{.reason = "lunch", .since = clock_.wall_now()};
  pass(6min);
  life_->node.note_lock();
  settle();

  using Actions = std::vector<std::string>;
  EXPECT_EQ(audited(given.task_id.text()),
            (Actions{"task.accepted", "consent.asked", "consent.given", "task.started", "task.ended"}));
  EXPECT_EQ(audited(withheld.task_id.text()),
            (Actions{"task.accepted", "consent.asked", "consent.withheld", "task.ended consent_denied"}));
  EXPECT_EQ(audited(late.task_id.text()),
            (Actions{"task.accepted", "consent.asked", "consent.withheld consent_timeout",
                     "task.ended consent_timeout"}));
  EXPECT_EQ(audited(node_keys_.identity().node.text()),
            (Actions{"process.started", "policy.loaded", "node.locked"}));
}

// proves C8
TEST_F(OwnedNodeTest, WhenInputComesBeforeTheAnswer_ThenTheProgramReadsItOnceItStarts) {
  machine_.teach("slow", {"cat", "exit=0"});
  live();
  auto task = shell("slow");
  task.stdin_stream_id = deployment_.make_id<StreamId>();
  hub_.dispatch(task);
  settle();
  hub_.write_stdin(*task.stdin_stream_id, "typed", true);
  settle();
  ASSERT_FALSE(has_started(task));

  ASSERT_TRUE(answer(task, Answer::once)->has_value());
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(hub_.find(task.stream_id)->out, "typed");
}

// proves C8
TEST_F(OwnedNodeTest, WhenNobodyAnswersInTime_ThenItIsANo) {
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();

  pass(5min + 1s);

  EXPECT_EQ(failure_of(task), ErrorCode::consent_timeout);
  EXPECT_FALSE(has_started(task));
  EXPECT_FALSE(answer(task, Answer::once)->has_value());
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheNodeIsKilledWhileAQuestionIsOpen_ThenTheQuestionAndItsDeadlineStay) {
  live();
  const auto task = shell("slow");
  const auto late = shell("hello");
  hub_.dispatch(task);
  hub_.dispatch(late);
  settle();

  kill();
  live();
  EXPECT_TRUE(is_asked(task));
  EXPECT_TRUE(answer(task, Answer::once)->has_value());
  settle();
  EXPECT_TRUE(has_started(task));
  kill();
  clock_.advance(6min);
  live();
  settle();

  EXPECT_FALSE(has_started(late));
  EXPECT_EQ(failure_of(late), ErrorCode::consent_timeout);
}

// proves C8
// proves X25
TEST_F(OwnedNodeTest, WhenAnythingThatWasApprovedChanges_ThenNothingStarts) {
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"the program is replaced", [this] { files_.put("/bin/hello", "hello"); }},
      {"the program is written to", [this] { files_.overwrite("/bin/hello", "sudo"); }},
      {"the shell is replaced", [this] { files_.put("/bin/sh", "other"); }},
      {"the working directory is swapped", [this] { files_.swap_directory("/workspace"); }},
      {"the policy says no by now", [this] { settings_.policy->deny.push_back("hello"); }},
      {"the workspace moves", [this] { settings_.workspace = "/elsewhere"; }},
      {"the policy is gone", [this] { settings_.policy.reset(); }},
      // The last, for it stays.
      {"another program stands before it in PATH", [this] { files_.put("/usr/local/bin/hello", "hello"); }},
  };
  const auto settings = settings_;
  for (const auto& [reason, change] : changes) {
    SCOPED_TRACE(reason);
    live();
    const auto task = shell("hello");
    hub_.dispatch(task);
    settle();
    ASSERT_TRUE(is_asked(task));
    kill();
    change();
    live();

    ASSERT_TRUE(answer(task, Answer::once)->has_value());
    settle();

    EXPECT_FALSE(has_started(task));
    EXPECT_TRUE(failure_of(task) == ErrorCode::consent_void ||
                failure_of(task) == ErrorCode::task_policy_refused);
    kill();
    settings_ = settings;
  }
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheAnswerIsForTheSession_ThenTheSameIsNotAskedAgainUntilTheNodeRestarts) {
  live();
  const auto first = shell("hello");
  hub_.dispatch(first);
  settle();
  ASSERT_TRUE(answer(first, Answer::session)->has_value());
  settle();

  const auto second = shell("hello");
  hub_.dispatch(second);
  settle();
  auto other = shell("hello");
  other.env.push_back({"A", "b"});
  hub_.dispatch(other);
  settle();

  EXPECT_TRUE(has_started(second));
  EXPECT_FALSE(has_started(other));
  kill();
  live();
  const auto third = shell("hello");
  hub_.dispatch(third);
  settle();
  EXPECT_FALSE(has_started(third));
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheAnswerIsNever_ThenTheSameIsANoAlsoAfterARestart) {
  live();
  const auto first = shell("hello");
  hub_.dispatch(first);
  settle();
  ASSERT_TRUE(answer(first, Answer::never)->has_value());
  settle();
  EXPECT_EQ(failure_of(first), ErrorCode::consent_denied);

  kill();
  live();
  const auto second = shell("hello");
  hub_.dispatch(second);
  settle();

  EXPECT_EQ(failure_of(second), ErrorCode::consent_denied);
  EXPECT_FALSE(has_started(second));
}

TEST_F(OwnedNodeTest, WhenARuleAsksAlways_ThenNoAnswerIsForTheSession) {
  live();
  const auto task = shell("slow");
  hub_.dispatch(task);
  settle();

  const auto answered = answer(task, Answer::session);

  ASSERT_FALSE(answered->has_value());
  EXPECT_EQ(answered->error().code(), ErrorCode::invalid);
  EXPECT_TRUE(is_asked(task));
}

TEST_F(OwnedNodeTest, WhenATaskThatWaitsIsCancelled_ThenItEndsWithoutAnAnswer) {
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();

  hub_.cancel(task.task_id);
  settle();

  EXPECT_EQ(failure_of(task), ErrorCode::task_cancelled);
  EXPECT_FALSE(has_started(task));
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheOwnerLetsTheHubAnswer_ThenItSeesTheQuestionAndItsAnswerCounts) {
  settings_.hub_may_answer = true;
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();
  ASSERT_EQ(hub_.questions().question_size(), 1);
  EXPECT_EQ(hub_.questions().question(0).program(), "/bin/sh");

  hub_.answer_question(task.task_id, "once");
  settle();

  EXPECT_TRUE(has_started(task));
  EXPECT_EQ(hub_.questions().question_size(), 0);
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheOwnerDoesNot_ThenTheHubLearnsNoFileAndItsAnswerIsIgnored) {
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();
  ASSERT_EQ(hub_.questions().question_size(), 1);
  EXPECT_EQ(hub_.questions().question(0).program(), "");
  EXPECT_EQ(hub_.questions().question(0).why(), "");

  hub_.answer_question(task.task_id, "once");
  settle();

  EXPECT_FALSE(has_started(task));
  EXPECT_TRUE(is_asked(task));
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheOwnerLocks_ThenWhatRunsEndsAtOnceAndNothingStartsUntilTheOwnerUnlocks) {
  machine_.teach("stubborn", {"ignore-term", "wait=1h"});
  live();
  const auto running = shell("stubborn");
  const auto waiting = shell("hello");
  hub_.dispatch(running);
  hub_.dispatch(waiting);
  settle();
  ASSERT_TRUE(has_started(running));

  lock_.notice = LockNotice{.reason = "holiday", .since = clock_.wall_now()};
  life_->node.note_lock();
  settle();

  EXPECT_EQ(failure_of(running), ErrorCode::node_locked);
  EXPECT_EQ(failure_of(waiting), ErrorCode::node_locked);
  const auto refused = shell("hello");
  hub_.dispatch(refused);
  settle();
  EXPECT_EQ(refusal_of(refused), ErrorCode::node_locked);
  kill();
  live();
  const auto again = shell("stubborn");
  hub_.dispatch(again);
  settle();
  EXPECT_EQ(refusal_of(again), ErrorCode::node_locked);
  lock_.notice.reset();
  life_->node.note_lock();
  const auto after = shell("stubborn");
  hub_.dispatch(after);
  settle();
  EXPECT_TRUE(has_started(after));
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheNodeIsLockedWhileNoNodeRuns_ThenTheNextOneEndsWhatTheLauncherKept) {
  live();
  const auto running = shell("stubborn");
  hub_.dispatch(running);
  settle();
  kill();

  lock_.notice = LockNotice{};
  live();
  settle();

  EXPECT_EQ(failure_of(running), ErrorCode::node_locked);
}

TEST_F(OwnedNodeTest, WhenTheLockCannotBeRead_ThenTheNodeIsLocked) {
  lock_.is_unreadable = true;
  live();
  const auto task = shell("stubborn");

  hub_.dispatch(task);
  settle();

  EXPECT_EQ(refusal_of(task), ErrorCode::node_locked);
}

// proves C8
TEST_F(OwnedNodeTest, WhenTheOwnerSpeaksToTheNode_ThenQuestionsAreListedAnsweredAndForgotten) {
  live();
  auto task = shell("hello");
  task.env.push_back({"NAME", "value"});
  hub_.dispatch(task);
  settle();

  const auto listed = owner_says(R"({"do":"list"})");
  for (const auto& word :
       {task.task_id.text(), task.owner.text(), std::string(R"("shell":"hello")"),
        std::string(R"("NAME":"value")"), std::string("/bin/sh"), std::string("asks before hello")}) {
    EXPECT_NE(listed.find(word), std::string::npos) << word << " in " << listed;
  }
  EXPECT_EQ(owner_says(R"({"do":"answer","task":")" + task.task_id.text() + R"(","answer":"never"})"), "{}");
  EXPECT_EQ(failure_of(task), ErrorCode::consent_denied);
  EXPECT_EQ(owner_says(R"({"do":"forget"})"), "{}");
  auto again = shell("hello");
  again.env = task.env;
  hub_.dispatch(again);
  settle();
  EXPECT_TRUE(is_asked(again));
}

TEST_F(OwnedNodeTest, WhenARequestOfTheOwnerMakesNoSense_ThenItIsRefusedAndNothingHappens) {
  live();
  const auto task = shell("hello");
  hub_.dispatch(task);
  settle();

  for (const std::string request :
       {"", "{}", "[]", R"({"do":"run"})", R"({"do":"answer"})",
        R"({"do":"answer","task":"x","answer":"once"})", R"({"do":"list","more":1})",
        R"({"do":"answer","task":"task_01jd0000000000000000000000","answer":"once"})"}) {
    EXPECT_NE(owner_says(request).find("\"error\""), std::string::npos) << request;
  }
  EXPECT_NE(
      owner_says(R"({"do":"answer","task":")" + task.task_id.text() + R"(","answer":"yes"})").find("error"),
      std::string::npos);
  EXPECT_TRUE(is_asked(task));
}

}  // namespace
}  // namespace outhaul::node
