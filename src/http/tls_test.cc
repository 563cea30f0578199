#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "base/within.h"
#include "crypto/certificate_authority.h"
#include "http/tls_connection.h"
#include "testing/manual_clock.h"
#include "testing/run_ready_task.h"
#include "testing/seeded_random.h"

namespace outhaul::http {
namespace {

using namespace std::chrono_literals;
using testing::run_ready;
using testing::run_ready_task;

// OpenSSL judges dates by the machine's clock, so the certificates cover decades around it.
constexpr WallTime year_2020{1'577'836'800'000'000'000};
constexpr std::chrono::hours decades{24 * 365 * 80};
constexpr const char* node_name = "node.example";

template <class T>
T must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().what();
  return std::move(result).value();
}

// A deployment's certificates, and both ends of a socket pair.
class TlsTest : public ::testing::Test {
 protected:
  static crypto::CertificateAuthority make_authority(Random& random) {
    return must(crypto::CertificateAuthority::make("test authority", {year_2020, decades}, random));
  }
  TlsIdentity server_identity(const crypto::ServerNames& names) {
    const auto key = must(crypto::TlsKey::generate());
    const auto leaf = must(authority_.issue_server(key.spki(), names, {year_2020, decades}, random_));
    return {leaf.pem() + authority_.certificate().pem(), key.pem()};
  }
  TlsIdentity node_identity(const crypto::CertificateAuthority& issuer, crypto::Validity validity) {
    const auto key = must(crypto::TlsKey::generate());
    const auto request =
        must(crypto::CertificateRequest::parse_pem(must(crypto::make_certificate_request(key, "node"))));
    const crypto::NodeIdentity identity{"example", NodeId::make(year_2020, random_)};
    return {must(issuer.issue_node(request, identity, validity, random_)).pem(), key.pem()};
  }
  TlsServerContext server_context() {
    TlsServerContext::Settings settings{.people = server_identity({{"hub.example"}, {"127.0.0.1"}}),
                                        .node = server_identity({{node_name}, {}}),
                                        .node_name = node_name,
                                        .node_ca_pem = authority_.certificate().pem()};
    return must(TlsServerContext::make(settings));
  }
  TlsClientContext client_context() {
    return must(TlsClientContext::trusting(authority_.certificate().pem()));
  }

  struct Ends {
    Result<std::unique_ptr<Connection>> server = fail(ErrorCode::internal, "test: not finished");
    Result<std::unique_ptr<Connection>> client = fail(ErrorCode::internal, "test: not finished");
  };
  Ends handshake(const TlsServerContext& server, const TlsClientContext& client, TlsClientName name) {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    Ends ends;
    TaskGroup group(io_.get_executor());
    group.spawn([&]() -> Task<void> { ends.server = co_await tls_accept(pair[0], server); });
    group.spawn(
        [&]() -> Task<void> { ends.client = co_await tls_connect(pair[1], client, std::move(name)); });
    run_ready(io_);
    group.cancel();
    run_ready(io_);
    return ends;
  }
  Bytes exchange(Connection& from, Connection& to, ByteView bytes) {
    Bytes received;
    TaskGroup group(io_.get_executor());
    group.spawn(
        [&]() -> Task<void> { EXPECT_TRUE((co_await from.write_all(bytes.substr(0, 5), bytes.substr(5)))); });
    group.spawn([&]() -> Task<void> {
      std::array<char, 65536> room{};
      while (received.size() < bytes.size()) {
        const auto count = co_await to.read_some(room);
        if (!count || *count == 0) co_return;
        received.append(room.data(), *count);
      }
    });
    run_ready(io_);
    group.cancel();
    run_ready(io_);
    return received;
  }

  testing::SeededRandom random_{1};
  crypto::CertificateAuthority authority_ = make_authority(random_);
  asio::io_context io_;
};

// proves A3
TEST_F(TlsTest, WhenANodeDialsByItsName_ThenBothSidesKnowEachOther) {
  const auto server = server_context();
  auto client = client_context();
  ASSERT_TRUE(client.set_identity(node_identity(authority_, {year_2020, decades})));

  const auto ends = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(ends.server && ends.client);
  const PeerFacts& node = (*ends.server)->peer();
  const PeerFacts& hub = (*ends.client)->peer();
  EXPECT_TRUE(node.is_node_side);
  EXPECT_EQ(node.server_name, node_name);
  EXPECT_EQ(node.certificate_verdict, CertificateVerdict::valid);
  EXPECT_TRUE(
      must(crypto::Certificate::parse_der(node.certificate_der)).uri().starts_with("spiffe://example/node/"));
  EXPECT_EQ(hub.server_spki_der, node.server_spki_der);
  EXPECT_EQ(hub.server_ca_pem, authority_.certificate().pem());
}

TEST_F(TlsTest, WhenANodeHasNoCertificateYet_ThenItIsLetInWithoutAName) {
  const auto server = server_context();

  const auto ends = handshake(server, client_context(), {node_name, {}});

  ASSERT_TRUE(ends.server);
  EXPECT_TRUE((*ends.server)->peer().is_node_side);
  EXPECT_EQ((*ends.server)->peer().certificate_verdict, CertificateVerdict::none);
}

TEST_F(TlsTest, WhenTheClientCertificateDoesNotHold_ThenTheVerdictSaysHow) {
  const auto server = server_context();
  const auto stranger = make_authority(random_);
  auto expired = client_context();
  auto foreign = client_context();
  ASSERT_TRUE(expired.set_identity(node_identity(authority_, {year_2020, std::chrono::hours(24)})));
  ASSERT_TRUE(foreign.set_identity(node_identity(stranger, {year_2020, decades})));

  const auto with_expired = handshake(server, expired, {node_name, {}});
  const auto with_foreign = handshake(server, foreign, {node_name, {}});

  ASSERT_TRUE(with_expired.server && with_foreign.server);
  EXPECT_EQ((*with_expired.server)->peer().certificate_verdict, CertificateVerdict::expired);
  EXPECT_NE((*with_expired.server)->peer().certificate_der, "");
  EXPECT_EQ((*with_foreign.server)->peer().certificate_verdict, CertificateVerdict::foreign);
  EXPECT_EQ((*with_foreign.server)->peer().certificate_der, "");
}

TEST_F(TlsTest, WhenAServerCertificateIsUsedAsAClients_ThenItIsForeign) {
  const auto server = server_context();
  auto client = client_context();
  ASSERT_TRUE(client.set_identity(server_identity({{"hub.example"}, {}})));

  const auto ends = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(ends.server);
  EXPECT_EQ((*ends.server)->peer().certificate_verdict, CertificateVerdict::foreign);
}

TEST_F(TlsTest, WhenAPersonDials_ThenNoCertificateIsAskedFor) {
  const auto server = server_context();
  auto client = client_context();
  ASSERT_TRUE(client.set_identity(node_identity(authority_, {year_2020, decades})));

  for (const char* name : {"hub.example", "127.0.0.1"}) {
    SCOPED_TRACE(name);
    const auto ends = handshake(server, client, {name, {}});

    ASSERT_TRUE(ends.server && ends.client);
    EXPECT_FALSE((*ends.server)->peer().is_node_side);
    EXPECT_EQ((*ends.server)->peer().certificate_verdict, CertificateVerdict::none);
  }
}

// proves A3
TEST_F(TlsTest, WhenTheHubIsNotTheOneExpected_ThenTheClientSaysWhy) {
  const auto server = server_context();
  const auto stranger = make_authority(random_);
  const auto trusting_stranger = must(TlsClientContext::trusting(stranger.certificate().pem()));
  const auto pinning_stranger = must(TlsClientContext::pinning(stranger.fingerprint()));

  const auto other_ca = handshake(server, trusting_stranger, {"hub.example", {}});
  const auto other_pin = handshake(server, pinning_stranger, {"hub.example", {}});
  const auto other_name = handshake(server, client_context(), {"other.example", {}});
  const auto other_address = handshake(server, client_context(), {"127.0.0.2", {}});

  EXPECT_EQ(other_ca.client.error().code(), ErrorCode::certificate_invalid);
  EXPECT_EQ(other_pin.client.error().code(), ErrorCode::ca_fingerprint_mismatch);
  EXPECT_EQ(other_name.client.error().code(), ErrorCode::certificate_invalid);
  EXPECT_EQ(other_address.client.error().code(), ErrorCode::certificate_invalid);
  EXPECT_FALSE(other_ca.server);
}

TEST_F(TlsTest, WhenTheFingerprintIsTheHubs_ThenItsCaIsLearned) {
  const auto server = server_context();
  const auto client = must(TlsClientContext::pinning(authority_.fingerprint()));

  const auto ends = handshake(server, client, {"hub.example", {}});
  const auto other_name = handshake(server, client, {"other.example", {}});

  ASSERT_TRUE(ends.client);
  EXPECT_EQ((*ends.client)->peer().server_ca_pem, authority_.certificate().pem());
  EXPECT_EQ(other_name.client.error().code(), ErrorCode::certificate_invalid);
}

TEST_F(TlsTest, WhenThePinIsTheLeafs_ThenItIsNoCa) {
  const auto server = server_context();
  const auto first = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(first.client);
  const auto leaf = crypto::Fingerprint::of_spki((*first.client)->peer().server_spki_der);

  const auto ends = handshake(server, must(TlsClientContext::pinning(leaf)), {"hub.example", {}});

  EXPECT_EQ(ends.client.error().code(), ErrorCode::ca_fingerprint_mismatch);
}

TEST_F(TlsTest, WhenBytesFlow_ThenTheyArriveInOrderAndWhole) {
  const auto server = server_context();
  const auto ends = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(ends.server && ends.client);
  Bytes bytes;
  while (bytes.size() < 300'000) bytes.append(std::to_string(bytes.size()));

  EXPECT_EQ(exchange(**ends.client, **ends.server, bytes), bytes);
  EXPECT_EQ(exchange(**ends.server, **ends.client, bytes), bytes);
}

TEST_F(TlsTest, WhenAPersonComesBack_ThenTheHandshakeIsResumed) {
  const auto server = server_context();
  const auto first = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(first.server && first.client);
  exchange(**first.server, **first.client, "answer");
  const Bytes ticket = (*first.client)->resumption();
  ASSERT_NE(ticket, "");

  const auto second = handshake(server, client_context(), {"hub.example", ticket});
  const auto on_node_side = handshake(server, client_context(), {node_name, ticket});
  const auto with_garbage = handshake(server, client_context(), {"hub.example", "garbage"});

  ASSERT_TRUE(second.client);
  // Only a full handshake verifies a chain.
  EXPECT_EQ((*second.client)->peer().server_ca_pem, "");
  EXPECT_EQ((*second.client)->peer().server_spki_der, (*first.client)->peer().server_spki_der);
  EXPECT_EQ(exchange(**second.client, **second.server, "again"), "again");
  ASSERT_TRUE(on_node_side.client && with_garbage.client);
  EXPECT_NE((*on_node_side.client)->peer().server_ca_pem, "");
}

TEST_F(TlsTest, WhenOneSideCloses_ThenTheOtherReadsTheEnd) {
  const auto server = server_context();
  const auto ends = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(ends.server && ends.client);
  std::array<char, 16> room{};

  (*ends.client)->close();
  const auto end = run_ready_task(io_, (*ends.server)->read_some(room));
  const auto after = run_ready_task(io_, (*ends.client)->read_some(room));

  ASSERT_TRUE(end && *end);
  EXPECT_EQ(**end, 0U);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->error().code(), ErrorCode::unavailable);
}

TEST_F(TlsTest, WhenAReadIsCancelled_ThenNoByteIsLost) {
  const auto server = server_context();
  const auto ends = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(ends.server && ends.client);
  std::array<char, 16> room{};

  const auto cancelled = run_ready_task(io_, (*ends.server)->read_some(room));

  EXPECT_FALSE(cancelled);
  EXPECT_EQ(exchange(**ends.client, **ends.server, "still here"), "still here");
}

TEST_F(TlsTest, WhenAWriteIsCancelled_ThenTheConnectionIsOfNoFurtherUse) {
  const auto server = server_context();
  const auto ends = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(ends.server && ends.client);
  const Bytes more_than_fits(std::size_t{8} << 20, 'x');

  const auto cancelled = run_ready_task(io_, (*ends.client)->write_all(more_than_fits));

  EXPECT_FALSE(cancelled);
  EXPECT_FALSE((*ends.client)->is_open());
}

TEST_F(TlsTest, WhenItIsKilledWhileReading_ThenTheReadFails) {
  const auto server = server_context();
  const auto ends = handshake(server, client_context(), {"hub.example", {}});
  ASSERT_TRUE(ends.server && ends.client);
  std::array<char, 16> room{};
  std::optional<Result<std::size_t>> read;
  TaskGroup group(io_.get_executor());
  group.spawn([&]() -> Task<void> { read = co_await (*ends.server)->read_some(room); });
  run_ready(io_);

  (*ends.server)->kill();
  run_ready(io_);

  ASSERT_TRUE(read && !*read);
  EXPECT_EQ(read->error().code(), ErrorCode::unavailable);
}

TEST_F(TlsTest, WhenThePeerSpeaksNoTls_ThenTheHandshakeFails) {
  const auto server = server_context();
  for (const std::string bytes : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff", "\x80", ""}) {
    SCOPED_TRACE(bytes);
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    ASSERT_EQ(::send(pair[1], bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    ::shutdown(pair[1], SHUT_WR);

    const auto accepted = run_ready_task(io_, tls_accept(pair[0], server));

    ASSERT_TRUE(accepted);
    EXPECT_FALSE(*accepted);
    ::close(pair[1]);
  }
}

TEST_F(TlsTest, WhenPemIsBad_ThenMakingAContextFails) {
  const auto good = server_identity({{"hub.example"}, {}});
  const auto other = server_identity({{"hub.example"}, {}});
  const auto key_of = [](const TlsIdentity& identity) {
    return std::string(identity.key_pem.reveal_for("test"));
  };
  struct Row {
    const char* reason;
    TlsIdentity identity;
  };
  std::vector<Row> rows;
  rows.push_back({"no certificate", {"", Secret(key_of(good))}});
  rows.push_back({"no key", {good.chain_pem, Secret("")}});
  rows.push_back({"another key", {good.chain_pem, Secret(key_of(other))}});
  rows.push_back({"cut certificate", {good.chain_pem.substr(0, 200), Secret(key_of(good))}});
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    auto context = client_context();

    const auto set = context.set_identity(row.identity);

    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code(), ErrorCode::certificate_invalid);
  }
  EXPECT_FALSE(TlsClientContext::trusting("no PEM"));
}

TEST_F(TlsTest, WhenThePeoplesCertificateIsReplaced_ThenLaterHandshakesSeeIt) {
  auto server = server_context();
  const auto before = handshake(server, client_context(), {"hub.example", {}});

  ASSERT_TRUE(server.replace_people(server_identity({{"hub.example"}, {}})));
  const auto after = handshake(server, client_context(), {"hub.example", {}});

  ASSERT_TRUE(before.client && after.client);
  EXPECT_NE((*before.client)->peer().server_spki_der, (*after.client)->peer().server_spki_der);
  EXPECT_EQ(exchange(**before.client, **before.server, "old one"), "old one");
}

TEST_F(TlsTest, WhenTheNodeSidesCertificateIsReplaced_ThenLaterHandshakesSeeItAndStandAsNodes) {
  auto server = server_context();
  auto client = client_context();
  ASSERT_TRUE(client.set_identity(node_identity(authority_, {year_2020, decades})));
  const auto before = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(server.replace_node(server_identity({{node_name}, {}})));
  const auto after = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(before.client && before.server && after.client && after.server);
  EXPECT_NE((*before.client)->peer().server_spki_der, (*after.client)->peer().server_spki_der);
  EXPECT_EQ((*after.client)->peer().server_spki_der, (*after.server)->peer().server_spki_der);
  EXPECT_TRUE((*after.server)->peer().is_node_side);
  EXPECT_EQ((*after.server)->peer().certificate_verdict, CertificateVerdict::valid);
  EXPECT_EQ(exchange(**before.client, **before.server, "old one"), "old one");
}

// A node that renews shows its new key from the next dial on; what is connected stays.
TEST_F(TlsTest, WhenAClientsIdentityIsReplaced_ThenLaterHandshakesShowIt) {
  const auto server = server_context();
  auto client = client_context();
  ASSERT_TRUE(client.set_identity(node_identity(authority_, {year_2020, decades})));
  const auto before = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(client.set_identity(node_identity(authority_, {year_2020, decades})));
  const auto after = handshake(server, client, {node_name, {}});

  ASSERT_TRUE(before.server && after.server);
  EXPECT_EQ((*after.server)->peer().certificate_verdict, CertificateVerdict::valid);
  EXPECT_NE((*before.server)->peer().certificate_der, (*after.server)->peer().certificate_der);
  EXPECT_EQ(exchange(**before.client, **before.server, "old one"), "old one");
}

}  // namespace
}  // namespace outhaul::http
