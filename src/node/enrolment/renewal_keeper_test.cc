#include "node/enrolment/renewal_keeper.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/task_group.h"
#include "testing/manual_clock.h"

namespace outhaul::node {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::run_ready;

class KeptLines final : public LogSink {
 public:
  void write(std::string_view line) override { text.append(line).append("\n"); }
  std::string text;
};

// A hub that gives a week, or what it is told to say.
class FakeRenewal final : public CertificateRenewal {
 public:
  explicit FakeRenewal(ManualClock& clock)
      : clock_(clock), life_{clock.wall_now(), clock.wall_now() + week} {}
  CertificateLife life() const override { return life_; }
  Task<Result<CertificateLife>> renew() override {
    ++attempts;
    if (failure) co_return fail(*failure, "a test");
    life_ = {clock_.wall_now(), clock_.wall_now() + week};
    co_return life_;
  }
  static constexpr Duration week = 24h * 7;
  int attempts = 0;
  std::optional<ErrorCode> failure;

 private:
  ManualClock& clock_;
  CertificateLife life_;
};

class RenewalKeeperTest : public ::testing::Test {
 protected:
  RenewalKeeperTest() {
    group_.spawn([this] { return keeper_.run(); });
    run_ready(io_);
  }
  ~RenewalKeeperTest() override {
    group_.cancel();
    TaskGroup ending(io_.get_executor());
    ending.spawn([this] { return group_.join(); });
    run_ready(io_);
  }
  void pass(Duration span) {
    for (const auto end = clock_.now() + span; clock_.now() < end;) {
      const auto next = clock_.next_wake().value_or(end);
      clock_.advance(std::max<Duration>(std::min(next, end) - clock_.now(), 1ns));
      run_ready(io_);
    }
  }

  asio::io_context io_{1};
  ManualClock clock_;
  KeptLines lines_;
  Log log_{"node", clock_, lines_};
  FakeRenewal renewal_{clock_};
  RenewalKeeper keeper_{{io_.get_executor(), clock_, log_, renewal_}, "node_1"};
  TaskGroup group_{io_.get_executor()};
};

// proves A4
TEST_F(RenewalKeeperTest, WhenWeeksPass_ThenEachCertificateIsRenewedOnceInItsLastThird) {
  pass(24h * 4);
  EXPECT_EQ(renewal_.attempts, 0);

  pass(24h * 2);
  EXPECT_EQ(renewal_.attempts, 1);
  EXPECT_NE(lines_.text.find("certificate renewed"), std::string::npos);

  pass(24h * 45);
  EXPECT_GE(renewal_.attempts, 9);
  EXPECT_LE(renewal_.attempts, 11);
}

TEST_F(RenewalKeeperTest, WhenTheHubIsAway_ThenItGoesOnAskingAndThenRests) {
  renewal_.failure = ErrorCode::unavailable;
  pass(24h * 6);
  const int while_away = renewal_.attempts;
  renewal_.failure.reset();

  pass(2h);

  EXPECT_GE(while_away, 24);
  EXPECT_EQ(renewal_.attempts, while_away + 1);
}

// proves A4
TEST_F(RenewalKeeperTest, WhenTheHubRefusesAnOldCertificate_ThenItIsRenewedAtOnce) {
  keeper_.note_refusal(Error(ErrorCode::unavailable, "a test"));
  run_ready(io_);
  EXPECT_EQ(renewal_.attempts, 0);

  keeper_.note_refusal(Error(ErrorCode::certificate_invalid, "a test"));
  run_ready(io_);

  EXPECT_EQ(renewal_.attempts, 1);
}

TEST_F(RenewalKeeperTest, WhenTheNodeWasRemoved_ThenItDoesNotStormTheHub) {
  renewal_.failure = ErrorCode::node_removed;

  keeper_.hasten();
  pass(24h);

  EXPECT_LE(renewal_.attempts, 50);
  EXPECT_NE(lines_.text.find("node_removed"), std::string::npos);
}

}  // namespace
}  // namespace outhaul::node
