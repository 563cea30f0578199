// A node that asks for a person's signature, and a hub whose own key signs whatever it likes.
#include "crypto/user_key.h"
#include "testing/node_fixture.h"
#include "wire/user_order.h"

namespace outhaul::node {
namespace {

class SignedNodeTest : public NodeTest {
 protected:
  SignedNodeTest() {
    const auto key = person_.verify_key();
    settings_.users = std::vector<wire::TrustedUser>{{{crypto::user_key_id(key), key}, AccountId()}};
  }
  Bytes order_for(wire::TaskSpec task) {
    task.nonce = deployment_.random().bytes(wire::task_nonce_bytes);
    return wire::sign_user_order(wire::make_user_order(std::move(task)), person_).value();
  }

  crypto::SigningKey person_ = crypto::SigningKey::generate(deployment_.random());
};

// proves C6
TEST_F(SignedNodeTest, WhenTheHubAloneSigns_ThenNothingIsStarted) {
  live();
  const auto task = shell("hello");

  hub_.dispatch(task);
  settle();

  EXPECT_EQ(refusal_of(task), ErrorCode::user_signature_missing);
  EXPECT_EQ(hub_.find(task.stream_id), nullptr);
  EXPECT_EQ(life_->node.running(), 0U);
  EXPECT_TRUE(hub_.last_hello().manifest().asks_user_signature());
  EXPECT_EQ(audited(""), (std::vector<std::string>{"task.refused user_signature_missing"}));
}

// proves C6
TEST_F(SignedNodeTest, WhenAPersonSignedIt_ThenItRunsOnceWhateverTheHubMakesOfIt) {
  live();
  auto task = shell("hello");
  task.user_order = order_for(task);
  auto stolen = shell("slow");
  stolen.user_order = order_for(shell("hello"));

  hub_.dispatch(task);
  hub_.dispatch(stolen);
  settle();

  ASSERT_NE(result_of(task), nullptr);
  EXPECT_EQ(result_of(task)->end, wire::TaskEnd(wire::Exited{3}));
  EXPECT_EQ(refusal_of(stolen), ErrorCode::user_signature_invalid);
  EXPECT_EQ(audited(task.task_id.text()).front(), "task.accepted");
}

// proves C6
// proves X18
TEST_F(SignedNodeTest, WhenTheNodeWasKilled_ThenWhatHasRunIsNotRunAgainAsAnotherTask) {
  live();
  auto task = shell("hello");
  task.user_order = order_for(task);
  hub_.dispatch(task);
  settle();
  kill();
  live();
  auto again = shell("hello");
  again.owner = task.owner;
  again.user_order = task.user_order;

  hub_.dispatch(again);
  settle();

  EXPECT_EQ(refusal_of(again), ErrorCode::user_signature_replayed);
  EXPECT_EQ(hub_.find(again.stream_id), nullptr);
}

}  // namespace
}  // namespace outhaul::node
