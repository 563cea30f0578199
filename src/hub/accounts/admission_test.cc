#include "hub/accounts/admission.h"

#include <gtest/gtest.h>

#include "hub/accounts/account_service.h"
#include "testing/hub_world.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

class AdmissionTest : public ::testing::Test {
 protected:
  // A new account with a token, admitted.
  Principal admitted(std::optional<std::chrono::nanoseconds> expires_in = {}) {
    auto& hub = world_.hub();
    const auto account = world_.run(hub.accounts().create("ann", store::Role::member)).value();
    const AccountService::TokenWish wish{.account = "ann", .name = "t", .expires_in = expires_in};
    const auto made = world_.run(hub.accounts().create_token(wish)).value();
    const auto header = "Bearer " + std::string(made.token.reveal_for("a request"));
    return world_.run(hub.admission().admit({header}, Action::run_tasks)).value();
  }
  // Work that never ends by itself.
  void begin(const Principal& principal) {
    world_.start([this, principal]() -> Task<void> {
      outcome_ = co_await world_.hub().admission().while_valid(principal, wait_for_ever());
    });
    world_.pass(1ms);
  }
  Task<Result<void>> wait_for_ever() {
    co_await never_.wait();
    co_return Result<void>();
  }

  testing::HubWorld world_;
  Event never_{world_.io().get_executor()};
  std::optional<Result<void>> outcome_;
};

TEST_F(AdmissionTest, WhenTheTokenIsRevoked_ThenWhatItStartedEndsAtOnce) {
  const auto ann = admitted();
  begin(ann);
  ASSERT_FALSE(outcome_.has_value());

  ASSERT_TRUE(world_.run(world_.hub().accounts().revoke_token(ann.token, world_.admin())).has_value());
  world_.pass(1ms);

  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(outcome_->error().code(), ErrorCode::unauthenticated);
}

// proves X53
TEST_F(AdmissionTest, WhenTheAccountIsDisabled_ThenWhatItStartedEndsAtOnce) {
  const auto ann = admitted();
  begin(ann);

  ASSERT_TRUE(world_.run(world_.hub().accounts().disable("ann", world_.admin().account)).has_value());
  world_.pass(1ms);

  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(outcome_->error().code(), ErrorCode::unauthenticated);
}

TEST_F(AdmissionTest, WhenTheTokenExpires_ThenWhatItStartedEndsThenAndNotBefore) {
  begin(admitted(10min));

  world_.pass(9min);
  EXPECT_FALSE(outcome_.has_value());
  world_.pass(2min);

  ASSERT_TRUE(outcome_.has_value());
  EXPECT_EQ(outcome_->error().code(), ErrorCode::unauthenticated);
}

TEST_F(AdmissionTest, WhenSomebodyElsesTokenIsRevoked_ThenWorkGoesOn) {
  begin(admitted());

  const AccountService::TokenWish wish{.account = "ann", .name = "other", .expires_in = {}};
  const auto other = world_.run(world_.hub().accounts().create_token(wish)).value();
  ASSERT_TRUE(world_.run(world_.hub().accounts().revoke_token(other.row.id, world_.admin())).has_value());
  world_.pass(1min);
  EXPECT_FALSE(outcome_.has_value());

  never_.set();
  world_.pass(1ms);
  ASSERT_TRUE(outcome_.has_value());
  EXPECT_TRUE(outcome_->has_value());
}

}  // namespace
}  // namespace outhaul::hub
