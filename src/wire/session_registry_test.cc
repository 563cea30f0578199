#include "wire/session_registry.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"
#include "testing/seeded_random.h"

namespace outhaul::wire {
namespace {

class Registry : public ::testing::Test {
 protected:
  template <class Id>
  Id make() {
    return Id::make(testing::ManualClock::default_start, random);
  }
  Claimant claimant(const InstanceId& instance, std::string address = "192.0.2.1:1") {
    return {make<SessionId>(), instance, std::move(address)};
  }

  testing::SeededRandom random{7};
  SessionRegistry registry;
  NodeId node = make<NodeId>();
  InstanceId first_instance = make<InstanceId>();
  InstanceId second_instance = make<InstanceId>();
  Claimant first = claimant(first_instance, "192.0.2.1:1");
  Claimant second = claimant(second_instance, "198.51.100.2:2");
};

TEST_F(Registry, WhenNobodyIsThere_ThenTheNewcomerIsAdmitted) {
  const auto arrival = registry.arrive(node, first);

  ASSERT_TRUE(arrival.has_value());
  EXPECT_TRUE(std::holds_alternative<AdmitNow>(*arrival));
  EXPECT_EQ(registry.find(node), first);
}

TEST_F(Registry, WhenTheSameInstanceReturns_ThenItReplacesItsOldSession) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  const auto again = claimant(first_instance);

  const auto arrival = registry.arrive(node, again);

  ASSERT_TRUE(arrival.has_value());
  ASSERT_TRUE(std::holds_alternative<ReplaceOld>(*arrival));
  EXPECT_EQ(std::get<ReplaceOld>(*arrival).old, first.session);
  EXPECT_EQ(registry.find(node), again);
  registry.leave(node, first.session);  // the replaced one ends later
  EXPECT_EQ(registry.find(node), again);
}

// proves X31
TEST_F(Registry, WhenTheOldSessionAnswers_ThenTheCopyIsRefusedAndBothAreNamed) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  const auto arrival = registry.arrive(node, second);
  ASSERT_TRUE(arrival.has_value());
  ASSERT_TRUE(std::holds_alternative<ProbeOld>(*arrival));
  EXPECT_EQ(std::get<ProbeOld>(*arrival).old, first.session);

  const auto refusal = registry.old_answered(node, second.session);

  EXPECT_EQ(refusal.code(), ErrorCode::duplicate_instance);
  for (const auto& name :
       {node.text(), first_instance.text(), second_instance.text(), first.address, second.address}) {
    EXPECT_NE(refusal.what().find(name), std::string::npos) << name;
  }
  EXPECT_EQ(registry.find(node), first);
}

TEST_F(Registry, WhenTheOldSessionIsSilent_ThenItIsReplaced) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());

  const auto arrival = registry.old_silent(node, second.session);

  ASSERT_TRUE(arrival.has_value());
  ASSERT_TRUE(std::holds_alternative<ReplaceOld>(*arrival));
  EXPECT_EQ(std::get<ReplaceOld>(*arrival).old, first.session);
  EXPECT_EQ(registry.find(node), second);
}

TEST_F(Registry, WhenTheOldSessionLeavesDuringTheProbe_ThenTheNewcomerIsAdmitted) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());
  registry.leave(node, first.session);

  const auto arrival = registry.old_silent(node, second.session);

  ASSERT_TRUE(arrival.has_value());
  EXPECT_TRUE(std::holds_alternative<AdmitNow>(*arrival));
  EXPECT_EQ(registry.find(node), second);
}

TEST_F(Registry, WhenTheOldInstanceReturnsDuringTheProbe_ThenItKeepsItsPlace) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());
  const auto again = claimant(first_instance);
  ASSERT_TRUE(registry.arrive(node, again).has_value());

  const auto arrival = registry.old_silent(node, second.session);

  ASSERT_FALSE(arrival.has_value());
  EXPECT_EQ(arrival.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(registry.find(node), again);
}

// proves X31
TEST_F(Registry, WhenTheOldInstanceLeavesAndReturnsDuringTheProbe_ThenItKeepsItsPlace) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());
  registry.leave(node, first.session);
  const auto back = claimant(first_instance);

  ASSERT_TRUE(registry.arrive(node, back).has_value());

  EXPECT_EQ(registry.old_silent(node, second.session).error().code(), ErrorCode::unavailable);
  EXPECT_EQ(registry.find(node), back);
}

TEST_F(Registry, WhenAThirdArrivesDuringTheProbe_ThenItMustTryAgain) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());

  const auto third = registry.arrive(node, claimant(make<InstanceId>()));

  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().code(), ErrorCode::unavailable);
}

TEST_F(Registry, WhenTheNewcomerGivesUpDuringTheProbe_ThenTheNextOneMayProbe) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());
  registry.leave(node, second.session);

  EXPECT_EQ(registry.old_answered(node, second.session).code(), ErrorCode::unavailable);
  const auto third = registry.arrive(node, claimant(make<InstanceId>()));
  ASSERT_TRUE(third.has_value());
  EXPECT_TRUE(std::holds_alternative<ProbeOld>(*third));
}

TEST_F(Registry, WhenEverybodyLeaves_ThenNothingIsKept) {
  ASSERT_TRUE(registry.arrive(node, first).has_value());
  ASSERT_TRUE(registry.arrive(node, second).has_value());
  registry.leave(node, second.session);
  registry.leave(node, first.session);
  registry.leave(node, first.session);

  EXPECT_EQ(registry.size(), 0U);
  EXPECT_FALSE(registry.find(node).has_value());
}

}  // namespace
}  // namespace outhaul::wire
