#include "hub/nodes/certificate_rules.h"

#include <gtest/gtest.h>

#include "testing/manual_clock.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using store::NodeState;

constexpr WallTime issued = testing::ManualClock::default_start;
const WallTime ended = issued + 24h * 7;

store::NodeRow row_with(NodeState state, store::NodeRotation rotation = {}) {
  store::NodeRow row;
  row.state = state;
  row.certificate.fingerprint = "newest";
  row.rotation = rotation;
  return row;
}

// "yes", or the reason, or the code of a refusal without one.
std::string word(const Result<void>& judged) {
  if (judged) return "yes";
  const auto& details = judged.error().details();
  return details.empty() ? std::string(name_of(judged.error().code())) : details.front().value;
}

struct Row {
  const char* what;
  store::NodeRow node;
  transport::PeerCertificate shown;
  WallTime now;
  std::string_view attaches;
  std::string_view renews;
};

const store::NodeRow plain = row_with(NodeState::enabled);
const store::NodeRow rotated = row_with(NodeState::enabled, {{}, issued + 24h});

// proves A4
// proves A6
TEST(CertificateRules, WhenACertificateIsShown_ThenTheRowAndItsDatesDecide) {
  const Row rows[] = {
      {"fresh", plain, {"newest", issued, ended}, issued, "yes", "yes"},
      {"an earlier one, whose renewal never reached its disk",
       plain,
       {"older", issued, ended},
       issued,
       "yes",
       "yes"},
      {"the last moment", plain, {"newest", issued, ended}, ended, "yes", "yes"},
      {"a moment later", plain, {"newest", issued, ended}, ended + 1ns, "expired", "yes"},
      {"slept for 30 days", plain, {"newest", issued, ended}, ended + 24h * 30, "expired", "yes"},
      {"slept for longer", plain, {"newest", issued, ended}, ended + 24h * 30 + 1ns, "expired", "expired"},
      {"the hub's clock is an hour slow", plain, {"newest", issued, ended}, issued - 1h, "yes", "yes"},
      {"draining", row_with(NodeState::draining), {"newest", issued, ended}, issued, "yes", "yes"},
      {"removed", row_with(NodeState::removed), {"newest", issued, ended}, issued, "yes", "node_removed"},
      {"rotation asked for, not yet done",
       row_with(NodeState::enabled, {issued + 24h, {}}),
       {"older", issued, ended},
       issued + 25h,
       "yes",
       "yes"},
      {"older than the rotation", rotated, {"older", issued, ended}, issued + 25h, "revoked", "revoked"},
      {"older than the rotation, and ended",
       rotated,
       {"older", issued, ended},
       ended + 1h,
       "revoked",
       "revoked"},
      {"given by the rotation", rotated, {"older", issued + 24h, ended + 24h}, issued + 25h, "yes", "yes"},
      {"the newest, from a clock that stood too low",
       rotated,
       {"newest", issued, ended},
       issued + 25h,
       "yes",
       "yes"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    // A removed node is refused by the registry before its certificate is looked at.
    EXPECT_EQ(word(judge_attachment(row.node, row.shown, row.now)), row.attaches);
    EXPECT_EQ(word(judge_renewal(row.node, row.shown, "next", row.now)), row.renews);
  }
}

TEST(CertificateRules, WhenTheAnswerOfARotationWasLost_ThenTheSameKeyMayBeAskedForAgain) {
  const transport::PeerCertificate older{"older", issued, ended};

  EXPECT_EQ(word(judge_renewal(rotated, older, "newest", issued + 25h)), "yes");
  EXPECT_EQ(word(judge_renewal(rotated, older, "another", issued + 25h)), "revoked");
}

// A copy that renews afterwards must not shut out whoever holds the certificate of the rotation.
TEST(CertificateRules, WhenTheHubsClockIsSlow_ThenTheCertificateOfARotationIsStillNewerThanWhatItReplaces) {
  const auto asked = row_with(NodeState::enabled, {issued, {}});
  const transport::PeerCertificate shown{"older", issued, ended};

  EXPECT_EQ(issue_time(asked, shown, issued + 1h), issued + 1h);
  EXPECT_EQ(issue_time(asked, shown, issued - 10min), issued + 1s);
  EXPECT_EQ(issue_time(asked, shown, issued - 2h), issued - 2h) << "it would not be valid yet";
  EXPECT_EQ(issue_time(plain, shown, issued - 10min), issued - 10min);

  auto row = asked;
  const auto issued_at = issue_time(row, shown, issued - 10min);
  row.rotation = rotation_after(row, shown, issued_at);
  row.certificate.fingerprint = "of a copy";
  EXPECT_EQ(word(judge_attachment(row, {"newest", issued_at, ended}, issued)), "yes");
  EXPECT_EQ(word(judge_attachment(row, shown, issued)), "revoked");
}

TEST(CertificateRules, WhenACertificateIsExchanged_ThenOnlyARotationThatWasAskedForMakesOthersWorthless) {
  const transport::PeerCertificate shown{"older", issued, ended};
  const auto asked = row_with(NodeState::enabled, {issued + 1h, {}});

  EXPECT_EQ(rotation_after(plain, shown, issued + 2h), plain.rotation);
  EXPECT_EQ(rotation_after(rotated, shown, issued + 48h), rotated.rotation);
  EXPECT_EQ(rotation_after(asked, shown, issued + 2h), (store::NodeRotation{{}, issued + 2h}));
  // The hub's clock was set back, or the second is the same: what was shown is worthless all the same.
  EXPECT_EQ(rotation_after(asked, shown, issued - 2h), (store::NodeRotation{{}, issued + 1s}));
  EXPECT_EQ(rotation_after(asked, shown, issued), (store::NodeRotation{{}, issued + 1s}));
}

}  // namespace
}  // namespace outhaul::hub
