#include "hub/server_certificates.h"

#include <gtest/gtest.h>

#include "hub/hub_data.h"
#include "testing/manual_clock.h"
#include "testing/seeded_random.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;

class KeptLines final : public LogSink {
 public:
  void write(std::string_view line) override { text.append(line).append("\n"); }
  std::size_t count(std::string_view phrase) const {
    std::size_t found = 0;
    for (auto at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1)) ++found;
    return found;
  }
  std::string text;
};

class ServerCertificatesTest : public ::testing::Test {
 protected:
  ServerCertificates make(std::function<Result<http::TlsIdentity>()> people = {}) {
    return {{clock_, random_, log_}, {"example.org", {"hub.example.org"}, std::move(people)}};
  }
  testing::ManualClock clock_;
  testing::SeededRandom random_{7};
  KeptLines lines_;
  Log log_{"hub", clock_, lines_};
  crypto::CertificateAuthority authority_ =
      crypto::CertificateAuthority::make("a test", {clock_.wall_now(), 24h * 3650}, random_).value();
};

// proves A4
TEST_F(ServerCertificatesTest, WhenTwoThirdsOfTheirLifeHavePassed_ThenTheyAreMadeAgainOnce) {
  auto certificates = make();
  auto tls = certificates.make(authority_).value();

  clock_.advance(24h * 19);
  certificates.refresh(tls, authority_);
  EXPECT_EQ(lines_.text, "");

  clock_.advance(24h * 1 + 1h);
  certificates.refresh(tls, authority_);
  certificates.refresh(tls, authority_);
  EXPECT_EQ(lines_.count("server certificates renewed"), 1U);

  clock_.step_wall(-24h * 365);
  certificates.refresh(tls, authority_);
  EXPECT_EQ(lines_.count("server certificates renewed"), 2U);
}

TEST_F(ServerCertificatesTest, WhenTheOperatorsFilesChange_ThenTheyAreReadAgainAndDamageChangesNothing) {
  const auto issue = [this] {
    auto issued = issue_people_side(authority_, {"hub.example.org"}, clock_.wall_now(), random_).value();
    return http::TlsIdentity{std::move(issued.chain_pem), std::move(issued.key_pem)};
  };
  auto current = issue();
  bool is_damaged = false;
  auto certificates = make([&]() -> Result<http::TlsIdentity> {
    if (is_damaged) return fail(ErrorCode::not_found, "a test");
    return http::TlsIdentity{current.chain_pem, Secret(std::string(current.key_pem.reveal_for("a test")))};
  });
  auto tls = certificates.make(authority_).value();

  certificates.refresh(tls, authority_);
  EXPECT_EQ(lines_.text, "");
  current = issue();
  certificates.refresh(tls, authority_);
  certificates.refresh(tls, authority_);
  EXPECT_EQ(lines_.count("was read again"), 1U);
  is_damaged = true;
  certificates.refresh(tls, authority_);

  EXPECT_EQ(lines_.count("is not read again"), 1U);
}

}  // namespace
}  // namespace outhaul::hub
