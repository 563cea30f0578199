#include "hub/nodes/node_session.h"

#include <gtest/gtest.h>

#include "hub/nodes/node_service.h"
#include "hub/streams/output_reader.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;
using testing::ScriptNode;

class NodeSessionTest : public ::testing::Test {
 protected:
  const NodeRecord& record(const std::string& name) { return **world.hub().nodes().find(name); }
  HubWorld world;
};

TEST_F(NodeSessionTest, WhenANodeAttaches_ThenItIsWelcomedWithTheHubsKeysAndShownAsAttached) {
  ScriptNode node(world, world.enrol("alpha"));

  ASSERT_TRUE(node.attach());

  EXPECT_EQ(node.welcome().signing_keys_size(), 1);
  EXPECT_EQ(node.welcome().hub_epoch(), 1U);
  EXPECT_FALSE(node.welcome().drain());
  ASSERT_TRUE(record("alpha").attachment.has_value());
  EXPECT_EQ(record("alpha").attachment->session.text(), node.welcome().session_id());
  node.cut();
  EXPECT_FALSE(record("alpha").attachment.has_value());
}

// proves X31
TEST_F(NodeSessionTest, WhenACopyOfTheIdentityAttaches_ThenTheSecondIsRefusedAndBothAreNamed) {
  const auto identity = world.enrol("alpha");
  ScriptNode first(world, identity);
  ScriptNode second(world, identity);
  ASSERT_TRUE(first.attach());

  EXPECT_FALSE(second.attach());

  EXPECT_EQ(second.failure()->code(), ErrorCode::duplicate_instance);
  EXPECT_TRUE(first.is_attached());
  const auto made = world.run(world.hub().tasks().submit(world.order({"true"}))).value();
  world.pass(1s);
  EXPECT_EQ(first.started(made.task), 1U);
}

// proves X32
TEST_F(NodeSessionTest, WhenTheSameInstanceComesBackOverANewLink_ThenItReplacesItsOldSession) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  const auto old = record("alpha").attachment->session;

  ASSERT_TRUE(node.attach());
  world.pass(2s);

  ASSERT_TRUE(record("alpha").attachment.has_value());
  EXPECT_NE(record("alpha").attachment->session, old);
  EXPECT_NE(record("alpha").attachment->link, nullptr);
}

TEST_F(NodeSessionTest, WhenTheSigningKeyIsNotTheEnrolledOne_ThenTheNodeIsRefused) {
  const auto identity = world.enrol("alpha");
  const auto stranger = world.enrol("beta");
  // The name of one node with the certified key of another.
  identity->key = crypto::SigningKey::parse_pem(stranger->key.pem()).value();
  identity->certificate = stranger->certificate;
  ScriptNode node(world, identity);

  EXPECT_FALSE(node.attach());

  EXPECT_FALSE(record("alpha").attachment.has_value());
  EXPECT_FALSE(record("beta").attachment.has_value());
}

TEST_F(NodeSessionTest, WhenTheHubHoldsAStreamToItsEnd_ThenWelcomeSaysSo) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  const auto made = world.run(world.hub().tasks().submit(world.order({"true"}))).value();
  world.pass(1s);
  ASSERT_TRUE(node.has_acknowledgement(made.stream));
  // As if the acknowledgement had not reached the node's disk.
  node.unacknowledge(made.task);
  node.cut();

  ASSERT_TRUE(node.attach());

  ASSERT_EQ(node.welcome().positions_size(), 1);
  EXPECT_EQ(node.welcome().positions(0).stream_id(), made.stream.text());
  EXPECT_TRUE(node.welcome().positions(0).complete());
  world.pass(1s);
  EXPECT_TRUE(node.has_acknowledgement(made.stream));
}

// proves B6
TEST_F(NodeSessionTest, WhenTheLinkBreaksInTheMiddleOfAStream_ThenEveryByteIsHeldOnce) {
  ScriptNode node(world, world.enrol("alpha"));
  node.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(node.attach());
  const auto made = world.run(world.hub().tasks().submit(world.order({"true"}))).value();
  world.pass(1s);
  node.begin_output(made.task, "one ");
  world.pass(1s);
  node.cut();
  node.begin_output(made.task, "two ");
  ASSERT_TRUE(node.attach());
  world.pass(1s);
  world.crash();
  world.boot();
  node.begin_output(made.task, "three");
  node.finish(made.task);
  ASSERT_TRUE(node.attach());
  world.pass(1s);

  OutputReader reader(world.hub().stream_sources(), made.stream, 0);
  const auto chunk = world.run(reader.next(1U << 20U, OutputReader::Wait::for_more)).value();

  Bytes text;
  for (const auto& slice : chunk.slices) {
    for (auto rest = slice.view(); !rest.empty();) {
      const auto record = stream::parse_record(rest).value();
      if (record.header.kind == stream::RecordKind::standard_output) text.append(record.payload);
      rest.remove_prefix(record.size());
    }
  }
  EXPECT_EQ(text, "one two three");
  EXPECT_TRUE(reader.is_complete());
}

TEST_F(NodeSessionTest, WhenANodeOffersAStreamOfAnotherNode_ThenItIsRefused) {
  ScriptNode alpha(world, world.enrol("alpha"));
  alpha.answer = ScriptNode::Answer::accept;
  ASSERT_TRUE(alpha.attach());
  const auto made = world.run(world.hub().tasks().submit(world.order({"true"}))).value();
  world.pass(1s);
  ScriptNode beta(world, world.enrol("beta"));
  beta.claim(alpha.arrivals()[0]);
  ASSERT_TRUE(beta.attach());

  beta.begin_output(made.task, "forged");
  beta.finish(made.task);
  world.pass(1s);

  EXPECT_EQ(world.run(world.hub().tasks().load(made.task))->state, store::TaskState::accepted);
}

}  // namespace
}  // namespace outhaul::hub
