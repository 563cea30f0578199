#include "hub/api/routes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include <boost/json.hpp>

#include "audit/bundle.h"
#include "crypto/user_key.h"
#include "http/client.h"
#include "http/server.h"
#include "hub/nodes/node_service.h"
#include "testing/hub_world.h"
#include "testing/memory_connection.h"
#include "wire/user_order.h"

namespace outhaul::hub {
namespace {

using namespace std::chrono_literals;
using testing::HubWorld;
using testing::ScriptNode;
namespace json = boost::json;

class NoSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

struct Reply {
  int status = 0;
  http::Headers headers;
  Bytes body;
  json::value json() const { return json::parse(body); }
  std::string code() const { return std::string(json().at("code").as_string()); }
  std::string text(std::string_view key) const { return std::string(json().at(key).as_string()); }
};

// The whole interface over memory connections.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() : log_("test", world.clock(), sink_), table(make_api(world.hub())), router_(table.router()) {
    server_.emplace(http::Server::Ports{world.io().get_executor(), world.clock(), log_}, router_, nullptr);
  }
  ~ApiTest() override {
    world.run([](http::Server& server) -> Task<bool> {
      co_await server.close();
      co_return true;
    }(*server_));
  }

  Task<Result<Reply>> exchange(http::Method method, std::string target, Bytes body, http::Headers headers) {
    auto connections = testing::make_memory_connections(world.io().get_executor());
    server_->serve(std::move(connections.server));
    http::Client client(world.clock(), std::move(connections.client), http::Client::Settings{});
    http::ClientRequest request{method, std::move(target), std::move(headers), std::move(body)};
    OUTHAUL_CO_TRY(response, co_await client.request(std::move(request)));
    OUTHAUL_CO_TRY(whole, co_await response.body->read_all(std::size_t{1} << 24U));
    Reply reply{response.status, response.headers, std::move(whole)};
    co_return reply;
  }
  Reply call(http::Method method, std::string target, Bytes body = {}, std::string token = "admin",
             http::Headers headers = {}) {
    if (token == "admin") token = world.admin_token();
    if (!token.empty()) headers.add("Authorization", "Bearer " + token);
    return world.run(exchange(method, std::move(target), std::move(body), std::move(headers))).value();
  }
  Reply get(std::string target, std::string token = "admin") {
    return call(http::Method::get, std::move(target), {}, std::move(token));
  }
  Reply post(std::string target, Bytes body, std::string token = "admin") {
    return call(http::Method::post, std::move(target), std::move(body), std::move(token));
  }
  std::string make_member(const std::string& name) {
    EXPECT_EQ(post("/api/v1/accounts", R"({"name":")" + name + R"("})").status, 201);
    return post("/api/v1/tokens", R"({"role":"member","account":")" + name + R"("})").text("token");
  }

  HubWorld world;
  NoSink sink_;
  Log log_;
  RouteTable table;
  http::Router router_;
  std::optional<http::Server> server_;
};

// A path with something in place of each {name}.
std::string filled(std::string pattern) {
  for (auto open = pattern.find('{'); open != pattern.npos; open = pattern.find('{')) {
    pattern.replace(open, pattern.find('}') - open + 1, "task_01234567890123456789012345");
  }
  return pattern;
}

TEST_F(ApiTest, WhenTheRoutesAreWalked_ThenEachIsProtectedOrOnThePublicList) {
  const std::set<std::string> public_routes = {"health",      "get_meta",          "open_tunnel",
                                               "enroll_node", "renew_certificate", "leave_hub"};
  std::set<std::string> found;
  for (const auto& entry : table.entries()) {
    if (!entry.action) found.insert(entry.route.name);
  }

  EXPECT_EQ(found, public_routes);
}

TEST_F(ApiTest, WhenNoValidTokenComes_ThenEveryProtectedRouteAnswersUnauthenticated) {
  const std::string tokens[] = {"", "nonsense", "oht_" + std::string(43, 'A')};
  for (const auto& entry : table.entries()) {
    if (!entry.action) continue;
    for (const auto& token : tokens) {
      SCOPED_TRACE(entry.route.name + " " + token);

      const auto reply = call(entry.route.method, filled(entry.route.pattern), {}, token);

      EXPECT_EQ(reply.status, 401);
      EXPECT_EQ(reply.code(), "unauthenticated");
    }
  }
}

TEST_F(ApiTest, WhenAMemberAsks_ThenEveryAdministratorsRouteAnswersDenied) {
  const auto member = make_member("mia");
  for (const auto& entry : table.entries()) {
    if (!entry.action || least_role(*entry.action) != store::Role::admin) continue;
    SCOPED_TRACE(entry.route.name);

    EXPECT_EQ(call(entry.route.method, filled(entry.route.pattern), {}, member).code(), "denied");
  }
}

struct Operation {
  std::string method;
  std::string path;
  std::string id;
  bool is_public = false;
  bool needs_admin = false;
  auto operator<=>(const Operation&) const = default;
};

std::set<Operation> documented_operations() {
  std::ifstream file(std::string(OUTHAUL_SOURCE_DIR) + "/docs/openapi.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto document = json::parse(text.str());
  std::set<Operation> operations;
  for (const auto& [path, methods] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      const bool needs_admin = operation.as_object().contains("x-outhaul-role");
      operations.insert({method, path, std::string(operation.at("operationId").as_string()),
                         operation.at("security").as_array().empty(), needs_admin});
    }
  }
  return operations;
}

// proves N5
TEST_F(ApiTest, WhenTheDocumentIsHeldAgainstTheRoutes_ThenNothingIsMissingOnEitherSide) {
  std::set<Operation> served;
  for (const auto& entry : table.entries()) {
    auto method = std::string(http::name_of(entry.route.method));
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    const bool needs_admin = entry.action && least_role(*entry.action) == store::Role::admin;
    served.insert({method, entry.route.pattern, entry.route.name, !entry.action, needs_admin});
  }

  const auto documented = documented_operations();

  for (const auto& operation : served) {
    EXPECT_TRUE(documented.contains(operation))
        << "not in docs/openapi.json: " << operation.method << ' ' << operation.path;
  }
  for (const auto& operation : documented) {
    EXPECT_TRUE(served.contains(operation)) << "not served: " << operation.method << ' ' << operation.path;
  }
}

// proves N1
TEST_F(ApiTest, WhenPeopleActAndAreRefused_ThenTheAuditLogSaysWhoDidWhat) {
  const auto member = make_member("mia");
  get("/api/v1/nodes", "oht_" + std::string(43, 'A'));
  get("/api/v1/audit", member);

  const auto all = get("/api/v1/audit");
  const auto refused = get("/api/v1/audit?outcome=refused");
  const auto made = get("/api/v1/audit?action=account.created");

  ASSERT_EQ(all.status, 200);
  ASSERT_EQ(refused.status, 200);
  const auto refusals = json::parse(refused.body).at("items").as_array();
  ASSERT_EQ(refusals.size(), 2U);
  EXPECT_EQ(refusals[0].at("subject").as_string(), "list_nodes");
  EXPECT_EQ(refusals[0].at("code").as_string(), "unauthenticated");
  EXPECT_EQ(refusals[1].at("code").as_string(), "denied");
  EXPECT_EQ(json::parse(made.body).at("items").as_array().size(), 1U);
  EXPECT_EQ(all.body.find("oht_"), all.body.npos);
  EXPECT_EQ(get("/api/v1/audit?outcome=perhaps").code(), "invalid");
  EXPECT_EQ(get("/api/v1/audit?cursor=x").code(), "invalid");
}

TEST_F(ApiTest, WhenTheAuditLogIsReadInPages_ThenEachEntryComesOnce) {
  for (int i = 0; i < 5; ++i) make_member("m" + std::to_string(i));
  std::vector<std::int64_t> sequences;
  std::string cursor;
  do {
    const auto page =
        json::parse(get("/api/v1/audit?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor)).body);
    for (const auto& item : page.at("items").as_array()) sequences.push_back(item.at("sequence").as_int64());
    const auto& next = page.at("next_cursor");
    cursor = next.is_null() ? std::string() : std::string(next.as_string());
  } while (!cursor.empty());

  EXPECT_GE(sequences.size(), 11U);
  EXPECT_TRUE(std::ranges::is_sorted(sequences));
  EXPECT_EQ(std::set<std::int64_t>(sequences.begin(), sequences.end()).size(), sequences.size());
}

// proves N1
TEST_F(ApiTest, WhenTheAuditLogIsExported_ThenTheBundleVerifies) {
  make_member("mia");

  const auto reply = get("/api/v1/audit/bundle");

  ASSERT_EQ(reply.status, 200);
  audit::BundleVerifier verifier({}, {});
  ASSERT_TRUE(verifier.feed(reply.body).has_value());
  ASSERT_TRUE(verifier.finish().has_value());
  EXPECT_TRUE(verifier.report().is_whole());
  EXPECT_GE(verifier.report().entries, 4U);
  EXPECT_EQ(verifier.head().log, "hub:example.org");
}

TEST_F(ApiTest, WhenATaskHasNoReceipt_ThenThatIsSaid) {
  const auto made = post("/api/v1/tasks", R"({"echo":"hi"})");

  const auto reply = get("/api/v1/tasks/" + made.text("id") + "/receipt");

  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.code(), "not_found");
}

TEST_F(ApiTest, WhenAnAccountIsDisabled_ThenItsTokensStopWithTheNextRequest) {
  const auto member = make_member("mia");
  ASSERT_EQ(get("/api/v1/whoami", member).text("account_name"), "mia");

  EXPECT_EQ(post("/api/v1/accounts/mia/disable", "").status, 200);

  EXPECT_EQ(get("/api/v1/whoami", member).code(), "unauthenticated");
  EXPECT_EQ(post("/api/v1/accounts/admin/disable", "").code(), "conflict");
}

TEST_F(ApiTest, WhenATokenIsRevokedOrExpires_ThenItStops) {
  const auto made = post("/api/v1/tokens", R"({"role":"admin","expires_in":"1h"})");
  const auto token = made.text("token");
  const auto revoked = post("/api/v1/tokens", R"({"role":"member"})");
  ASSERT_EQ(get("/api/v1/whoami", token).status, 200);

  EXPECT_EQ(call(http::Method::del, "/api/v1/tokens/" + revoked.text("id")).status, 204);
  EXPECT_EQ(get("/api/v1/whoami", revoked.text("token")).code(), "unauthenticated");
  world.pass(1h);

  EXPECT_EQ(get("/api/v1/whoami", token).code(), "unauthenticated");
}

TEST_F(ApiTest, WhenAMemberWorks_ThenItSeesItsOwnTasksAndTokensAndNobodyElses) {
  const auto mia = make_member("mia");
  const auto max = make_member("max");
  const auto task = post("/api/v1/tasks", R"({"argv":["true"]})", mia);
  ASSERT_EQ(task.status, 201);
  const auto path = "/api/v1/tasks/" + task.text("id");

  EXPECT_EQ(get(path, mia).status, 200);
  EXPECT_EQ(get(path).status, 200);
  EXPECT_EQ(get(path, max).code(), "not_found");
  EXPECT_EQ(post(path + "/cancel", "", max).code(), "not_found");
  EXPECT_EQ(get(path + "/events", max).code(), "not_found");
  EXPECT_EQ(get("/api/v1/streams/" + task.text("stream_id"), max).code(), "not_found");
  EXPECT_EQ(get("/api/v1/tasks", max).json().at("items").as_array().size(), 0U);
  EXPECT_EQ(get("/api/v1/tasks", mia).json().at("items").as_array().size(), 1U);
  EXPECT_EQ(get("/api/v1/tokens", mia).json().at("items").as_array().size(), 1U);
}

std::vector<stream::RecordView> records_of(ByteView body) {
  std::vector<stream::RecordView> records;
  while (!body.empty()) {
    records.push_back(stream::parse_record(body).value());
    body.remove_prefix(records.back().size());
  }
  return records;
}

TEST_F(ApiTest, WhenATaskIsFollowed_ThenItsRecordsComeUpToTheResultAndCanBeReadAgainFromAnywhere) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());

  const auto reply = post("/api/v1/tasks?follow=true", R"({"argv":["true"]})");

  ASSERT_EQ(reply.status, 201);
  const auto records = records_of(reply.body);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].payload, "hello\n");
  EXPECT_EQ(records[1].header.kind, stream::RecordKind::result);
  const std::string stream(reply.headers.value_or_empty("Outhaul-Stream-Id"));
  // Moved into the database by now; read whole, from within a record, and from its end.
  world.pass(1s);
  EXPECT_EQ(get("/api/v1/streams/" + stream).body, reply.body);
  const auto tail = records_of(get("/api/v1/streams/" + stream + "?from=2").body);
  ASSERT_EQ(tail.size(), 2U);
}

TEST_F(ApiTest, WhenAStreamIsReadFromWithinARecord_ThenTheTailOfItComes) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());
  const auto reply = post("/api/v1/tasks?wait=10s", R"({"argv":["true"]})");
  world.pass(1s);
  const auto path = "/api/v1/streams/" + reply.text("stream_id");

  const auto body = get(path + "?from=2").body;
  const auto records = records_of(body);

  EXPECT_EQ(reply.text("state"), "finished");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].payload, "llo\n");
  EXPECT_EQ(get(path + "?from=100000").code(), "invalid");
}

TEST_F(ApiTest, WhenTheHubEndsATaskItself_ThenItsStreamEndsWithAResultAllTheSame) {
  const auto reply = post("/api/v1/tasks?follow=true", R"({"argv":["true"],"queue_timeout":"2s"})");

  const auto records = records_of(reply.body);
  ASSERT_EQ(records.size(), 1U);
  const auto result = wire::parse_task_result(records[0].payload).value();
  EXPECT_EQ(std::get<wire::Failed>(result.end).code, ErrorCode::queue_timeout);
  const std::string stream(reply.headers.value_or_empty("Outhaul-Stream-Id"));
  world.pass(1s);
  EXPECT_EQ(get("/api/v1/streams/" + stream).body, reply.body);
}

TEST_F(ApiTest, WhenATaskIsWatched_ThenEachStateComesAsAnEvent) {
  ScriptNode node(world, world.enrol("alpha"));
  const auto task = post("/api/v1/tasks", R"({"argv":["true"],"queue_timeout":"5s"})");

  const auto reply = get("/api/v1/tasks/" + task.text("id") + "/events");

  EXPECT_EQ(reply.headers.value_or_empty("Content-Type"), "text/event-stream");
  EXPECT_NE(reply.body.find("id: queued\n"), reply.body.npos);
  EXPECT_NE(reply.body.find("id: failed\n"), reply.body.npos);
}

TEST_F(ApiTest, WhenTheSameKeyComesTwice_ThenOneTaskIsMade) {
  http::Headers headers{{"Idempotency-Key", "k-1"}};
  const auto first = call(http::Method::post, "/api/v1/tasks", R"({"argv":["true"]})", "admin", headers);
  const auto second = call(http::Method::post, "/api/v1/tasks", R"({"argv":["true"]})", "admin", headers);
  const auto other = call(http::Method::post, "/api/v1/tasks", R"({"argv":["false"]})", "admin", headers);

  EXPECT_EQ(first.text("id"), second.text("id"));
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "idempotency_mismatch");
}

TEST_F(ApiTest, WhenABodyOrAQueryIsHostile_ThenInvalidNamesTheKeyAndNotTheValue) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"[]", ""},
      {"{}", "argv"},
      {R"({"argv":["a"],"shell":"b"})", "argv"},
      {R"({"argv":[]})", ""},
      {R"({"argv":["a"],"selector":{"nodes":"hunter2"}})", "nodes"},
      {R"({"argv":["a"],"timeout":"hunter2"})", "timeout"},
      {R"({"argv":["a"],"queue_timeout":"9999999h"})", "queue_timeout"},
      {R"({"argv":["a"],"isolation":"hunter2"})", "isolation"},
      {R"({"argv":["a"],"target":"shell:hunter2"})", "target"},
      {R"({"argv":["a"],"target":"workspace:../hunter2"})", "target"},
      {R"({"argv":["a"],"env":{"A=B":"hunter2"}})", "env"},
      {R"({"argv":["a"],"env":["hunter2"]})", "env"},
      {R"({"argv":["a"],"stdin":"yes"})", "stdin"},
      {R"({"argv":["a"],"cwd":"/hunter2"})", "cwd"},
      {R"({"argv":["a"],"traceparent":"hunter2"})", "traceparent"},
      {R"({"argv":["a"],"argv":["b"]})", ""},
      {R"({"argv":["a"],"password":"hunter2"})", "password"},
  };
  for (const auto& [body, key] : rows) {
    SCOPED_TRACE(body);

    const auto reply = post("/api/v1/tasks", body);

    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.code(), "invalid");
    EXPECT_EQ(reply.body.find("hunter2"), reply.body.npos);
    EXPECT_NE(reply.body.find(key), reply.body.npos);
  }
  const std::string queries[] = {
      "limit=0", "limit=201", "limit=x", "cursor=", "state=ended", "colour=red", "cursor=abc"};
  for (const auto& query : queries) {
    SCOPED_TRACE(query);

    EXPECT_EQ(get("/api/v1/tasks?" + query).code(), "invalid");
  }
}

// proves A7
TEST_F(ApiTest, WhenNodesAreListed_ThenEachShowsWhatItSaidAndHowItIs) {
  ScriptNode node(world, world.enrol("alpha"));
  static_cast<void>(world.enrol("beta"));
  ASSERT_TRUE(node.attach());

  const auto alpha = get("/api/v1/nodes/alpha");
  const auto beta = get("/api/v1/nodes/beta");
  const auto first_page = get("/api/v1/nodes?limit=1");

  EXPECT_EQ(alpha.text("health"), "attached");
  EXPECT_EQ(alpha.text("platform"), "linux/amd64");
  EXPECT_EQ(alpha.json().at("load").at("slots").as_int64(), 4);
  EXPECT_EQ(beta.text("health"), "new");
  EXPECT_TRUE(beta.json().at("load").is_null());
  EXPECT_EQ(first_page.json().at("items").as_array().size(), 1U);
  const auto rest = get("/api/v1/nodes?cursor=" + first_page.text("next_cursor"));
  EXPECT_EQ(rest.json().at("items").as_array().size(), 1U);
  EXPECT_TRUE(rest.json().at("next_cursor").is_null());
}

TEST_F(ApiTest, WhenANodeDrains_ThenItGetsNoTaskUntilItIsTakenBack) {
  ScriptNode node(world, world.enrol("alpha"));
  ASSERT_TRUE(node.attach());

  EXPECT_TRUE(post("/api/v1/nodes/alpha/drain", R"({"drain":true})").json().at("draining").as_bool());
  const auto task = post("/api/v1/tasks", R"({"argv":["true"]})");
  world.pass(1s);
  const auto waiting = get("/api/v1/tasks/" + task.text("id"));
  EXPECT_EQ(waiting.text("state"), "queued");
  EXPECT_EQ(waiting.json().at("waiting").as_array().at(0).at("code").as_string(), "draining");
  EXPECT_EQ(post("/api/v1/nodes/alpha/drain", R"({"drain":false})").status, 200);
  world.pass(1s);

  EXPECT_EQ(get("/api/v1/tasks/" + task.text("id")).text("state"), "finished");
}

TEST_F(ApiTest, WhenTheTunnelIsAskedForOnThePeoplesSide_ThenItDoesNotExist) {
  EXPECT_EQ(get("/api/v1/tunnel", "").code(), "not_found");
}

TEST_F(ApiTest, WhenAskedWithoutAToken_ThenMetaAndHealthAnswer) {
  EXPECT_EQ(get("/healthz", "").body, "ok\n");
  const auto meta = get("/api/v1/meta", "");
  EXPECT_EQ(meta.text("deployment"), HubWorld::deployment);
  EXPECT_TRUE(meta.text("ca_fingerprint").starts_with("sha256:"));
}

// A person with a key of their own, and a node that asks for it.
class SignedApiTest : public ApiTest {
 protected:
  SignedApiTest() : key_(crypto::SigningKey::generate(world.random())), node_(world, world.enrol("alpha")) {
    node_.asks_user_signature = true;
    EXPECT_TRUE(node_.attach());
  }
  Bytes add_body() const {
    return R"({"name":"laptop","public_key":")" + crypto::user_key_text(key_.verify_key()) + R"("})";
  }
  Bytes order_body(std::string issuer = "example.org") {
    wire::TaskSpec task;
    task.issuer = std::move(issuer);
    task.audience = NodeId::parse(get("/api/v1/nodes/alpha").text("id")).value();
    task.owner = world.admin().account;
    task.issued_at = world.clock().wall_now();
    task.expires_at = task.issued_at + 10min;
    task.nonce = world.random().bytes(wire::task_nonce_bytes);
    task.action = wire::ArgvAction{{"uname", "-a"}};
    task.env = {{"COLOUR", "red"}};
    task.timeout = 30s;
    order_ = wire::make_user_order(std::move(task));
    return R"({"user_order":")" + to_base64(wire::sign_user_order(order_, key_).value()) + R"("})";
  }

  crypto::SigningKey key_;
  ScriptNode node_;
  wire::UserOrder order_;
};

// proves C6
TEST_F(SignedApiTest, WhenTheKeyIsRegistered_ThenTheOrderReachesItsNodeAsItWasSigned) {
  ASSERT_EQ(post("/api/v1/keys", add_body()).status, 201);

  const auto made = post("/api/v1/tasks?wait=10s", order_body());

  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_EQ(node_.arrivals().size(), 1U);
  const auto& spec = node_.arrivals().front().spec;
  EXPECT_EQ(wire::find_difference(order_, spec), std::nullopt);
  EXPECT_EQ(crypto::user_key_id(key_.verify_key()).text(),
            get("/api/v1/keys").json().at("items").at(0).at("id").as_string());
}

// proves C6
TEST_F(SignedApiTest, WhenNobodySigned_ThenItIsRefusedAtOnceUnlessAnotherNodeCanTakeIt) {
  EXPECT_EQ(post("/api/v1/tasks", R"({"argv":["true"]})").code(), "user_signature_missing");
  EXPECT_EQ(post("/api/v1/tasks", R"({"argv":["true"],"selector":{"node":"alpha"}})").code(),
            "user_signature_missing");
  ScriptNode other(world, world.enrol("beta"));
  ASSERT_TRUE(other.attach());

  EXPECT_EQ(post("/api/v1/tasks?wait=10s", R"({"argv":["true"]})").status, 201);

  EXPECT_TRUE(node_.arrivals().empty());
  EXPECT_EQ(other.arrivals().size(), 1U);
}

TEST_F(SignedApiTest, WhenTheKeyIsNotOfTheAccountOrTheOrderIsNotForUs_ThenItIsInvalid) {
  EXPECT_EQ(post("/api/v1/tasks", order_body()).code(), "user_signature_invalid");
  const auto member = make_member("mia");
  ASSERT_EQ(post("/api/v1/keys", add_body(), member).status, 201);
  EXPECT_EQ(post("/api/v1/tasks", order_body()).code(), "user_signature_invalid");
  // Signed by the member's key, but for the administrator's account.
  EXPECT_EQ(post("/api/v1/tasks", order_body(), member).code(), "user_signature_invalid");
  EXPECT_EQ(post("/api/v1/keys", add_body()).code(), "conflict");
  const auto id = get("/api/v1/keys", member).json().at("items").at(0).at("id");
  EXPECT_EQ(call(http::Method::del, "/api/v1/keys/" + std::string(id.as_string()), {}, member).status, 204);
  ASSERT_EQ(post("/api/v1/keys", add_body()).status, 201);
  EXPECT_EQ(post("/api/v1/tasks", order_body("example.net")).code(), "user_signature_invalid");
  EXPECT_EQ(post("/api/v1/tasks", R"({"user_order":"bm8="})").code(), "invalid");
  auto both = order_body();
  both.insert(1, R"("argv":["true"],)");
  EXPECT_EQ(post("/api/v1/tasks", both).code(), "invalid");
}

}  // namespace
}  // namespace outhaul::hub
