#include "cli/enrolment_text.h"

#include <sstream>

#include <gtest/gtest.h>

namespace outhaul::cli {
namespace {

boost::json::value made() {
  return boost::json::object{{"token", "ohe_secret"},
                             {"deployment", "build.example.org"},
                             {"ca_fingerprint", "sha256:00"},
                             {"expires_at", "2026-01-02T03:04:05Z"}};
}

// proves A2
TEST(EnrolmentText, WhenItIsPrinted_ThenNoCommandHoldsTheToken) {
  std::istringstream text(enrolment_text(made(), "https://hub.example.org:8443"));
  int lines_with_token = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.find("ohe_secret") == line.npos) continue;
    ++lines_with_token;
    EXPECT_EQ(line, "  ohe_secret");
  }

  EXPECT_EQ(lines_with_token, 1);
}

TEST(EnrolmentText, WhenThisMachineIsTheHubs_ThenTheAddressIsOneForOthers) {
  const auto other = enrolment_text(made(), "https://hub.example.org:8443");
  EXPECT_NE(other.find("--hub https://hub.example.org:8443 "), std::string::npos) << other;
  EXPECT_EQ(other.find("stands for"), std::string::npos) << other;
  for (const auto* own : {"https://localhost:8443", "https://127.0.0.1:8443", "https://[::1]:8443"}) {
    const auto text = enrolment_text(made(), own);

    EXPECT_NE(text.find("--hub https://build.example.org:8443 "), std::string::npos) << text;
    EXPECT_NE(text.find("stands for the address that it can"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace outhaul::cli
