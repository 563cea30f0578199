// What every adapter's stores of nodes, enrolment tokens, accounts and API tokens promise.
#include "tests/contract/database_harness.h"

namespace outhaul::store {
namespace {

class IdentityStores : public DatabaseContract {
 protected:
  NodeRow some_node(const std::string& name) {
    NodeRow node;
    node.id = next_id<NodeId>();
    node.name = name;
    node.pool = "build";
    node.labels = {{"os", "linux"}, {"empty", ""}, {"with", "a=b"}};
    node.planes = {"task", "web"};
    node.enrolled_at = WallTime{5};
    node.certificate = {.fingerprint = "ab", .serial = "01", .expires_at = WallTime{9}};
    node.signing_key = Bytes(32, '\0');
    return node;
  }
  Result<void> add(const NodeRow& node) {
    return write([&](Transaction& tx) { return tx.nodes.add(node); });
  }
  std::optional<NodeRow> load_node(const NodeId& id) {
    return *read([&](ReadTransaction& tx) { return tx.nodes.find(id); });
  }

  EnrolmentTokenRow add_token(const Bytes& hash) {
    EnrolmentTokenRow token;
    token.id = next_id<EnrolmentTokenId>();
    token.hash = hash;
    token.created_by = next_id<AccountId>();
    token.created_at = WallTime{10};
    token.expires_at = WallTime{100};
    token.pool = "build";
    token.labels = {{"a", "b"}};
    token.planes = {"task"};
    EXPECT_TRUE(write([&](Transaction& tx) { return tx.enrolment_tokens.add(token); }));
    return token;
  }
  Result<RedeemOutcome> redeem(const Bytes& hash, const Bytes& key, const Bytes& answer, std::int64_t when) {
    const Redemption use{
        .key_hash = key, .node = next_id<NodeId>(), .answer = answer, .redeemed_at = WallTime{when}};
    return write([&](Transaction& tx) { return tx.enrolment_tokens.redeem(hash, use); });
  }

  AccountRow add_account(const std::string& name) {
    const AccountRow account{.id = next_id<AccountId>(),
                             .name = name,
                             .role = Role::admin,
                             .created_at = WallTime{3},
                             .disabled_at = std::nullopt};
    EXPECT_TRUE(write([&](Transaction& tx) { return tx.accounts.add(account); }));
    return account;
  }
  ApiTokenRow some_api_token(const AccountId& account, const Bytes& hash) {
    ApiTokenRow token;
    token.id = next_id<ApiTokenId>();
    token.account = account;
    token.hash = hash;
    token.name = "laptop";
    token.role = Role::admin;
    token.created_at = WallTime{4};
    token.expires_at = WallTime{400};
    return token;
  }
};

// proves A7
TEST_P(IdentityStores, WhenANodeIsAdded_ThenItIsFoundByIdAndName) {
  const auto node = some_node("sky");

  ASSERT_TRUE(add(node));

  EXPECT_EQ(load_node(node.id), node);
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.nodes.find_by_name("sky"); }), node);
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.nodes.find_by_name("sea"); }), std::nullopt);
}

// proves A10
TEST_P(IdentityStores, WhenAnIdentityOrNameExists_ThenItIsNotReplaced) {
  const auto first = some_node("sky");
  ASSERT_TRUE(add(first));
  auto same_id = some_node("sea");
  same_id.id = first.id;

  EXPECT_EQ(code_of(add(same_id)), ErrorCode::conflict);
  EXPECT_EQ(code_of(add(some_node("sky"))), ErrorCode::name_taken);
  EXPECT_EQ(load_node(first.id), first);
}

// proves A10
TEST_P(IdentityStores, WhenANodeIsRemoved_ThenItStaysRemovedAndItsNameIsFree) {
  const auto first = some_node("sky");
  ASSERT_TRUE(add(first));
  const auto set_state = [&](NodeState state) {
    return write([&](Transaction& tx) { return tx.nodes.set_state(first.id, state); });
  };

  ASSERT_TRUE(set_state(NodeState::draining));
  ASSERT_TRUE(set_state(NodeState::removed));

  EXPECT_EQ(code_of(set_state(NodeState::enabled)), ErrorCode::node_removed);
  EXPECT_TRUE(set_state(NodeState::removed));
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.nodes.find_by_name("sky"); }), std::nullopt);
  EXPECT_TRUE(add(some_node("sky")));
  EXPECT_EQ(load_node(first.id)->state, NodeState::removed);
}

// proves A7
TEST_P(IdentityStores, WhenFactsOfANodeArrive_ThenOnlyTheyChange) {
  auto expected = some_node("sky");
  ASSERT_TRUE(add(expected));
  expected.certificate = {.fingerprint = "cd", .serial = "02", .expires_at = WallTime{19}};
  expected.rotation = {.requested_at = WallTime{21}, .certificates_from = WallTime{17}};
  expected.last_seen = {.seen_at = WallTime{11}, .version = "1.2", .manifest_json = R"({"cpu":"it's"})"};
  expected.counters = {.tasks_finished = 2, .tasks_failed = 4, .tasks_lost = 6, .crashes = 8};
  const NodeCounters half{.tasks_finished = 1, .tasks_failed = 2, .tasks_lost = 3, .crashes = 4};

  const auto outcome = write([&](Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(tx.nodes.set_certificate(expected.id, expected.certificate));
    OUTHAUL_CHECK(tx.nodes.set_rotation(expected.id, expected.rotation));
    OUTHAUL_CHECK(tx.nodes.note_seen(expected.id, expected.last_seen));
    OUTHAUL_CHECK(tx.nodes.count(expected.id, half));
    return tx.nodes.count(expected.id, half);
  });

  ASSERT_TRUE(outcome);
  EXPECT_EQ(load_node(expected.id), expected);
}

// proves A9
TEST_P(IdentityStores, WhenATokenNeedsApproval_ThenTheFirstWishStandsAndADecisionIsFinal) {
  EnrolmentTokenRow token;
  token.id = next_id<EnrolmentTokenId>();
  token.hash = Bytes(32, 'h');
  token.created_by = next_id<AccountId>();
  token.created_at = WallTime{1};
  token.expires_at = WallTime{1000};
  token.pool = "p";
  token.needs_approval = true;
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.enrolment_tokens.add(token); }));
  const EnrolmentWish first{Bytes(32, 'k'), "sha256:1", "alpha", "10.0.0.1:1", WallTime{10}, Approval::asked};
  auto other = first;
  other.key_hash = Bytes(32, 'o');
  auto late = first;
  late.asked_at = WallTime{1000};
  const auto ask = [&](const EnrolmentWish& wish) {
    return write([&](Transaction& tx) -> Result<void> {
      OUTHAUL_CHECK(tx.enrolment_tokens.ask(token.hash, wish));
      return {};
    });
  };
  const auto decide = [&](const std::string& fingerprint, Approval approval) {
    return write(
        [&](Transaction& tx) { return tx.enrolment_tokens.decide(token.id, fingerprint, approval); });
  };
  EXPECT_EQ(code_of(decide("sha256:1", Approval::given)), ErrorCode::not_found);

  ASSERT_TRUE(ask(first));

  EXPECT_TRUE(ask(first));
  EXPECT_EQ(code_of(ask(other)), ErrorCode::enrolment_token_invalid);
  EXPECT_EQ(code_of(ask(late)), ErrorCode::enrolment_token_invalid);
  EXPECT_EQ(code_of(decide("sha256:2", Approval::given)), ErrorCode::conflict);
  EXPECT_TRUE(decide("sha256:1", Approval::given));
  EXPECT_TRUE(decide("sha256:1", Approval::given));
  EXPECT_EQ(code_of(decide("sha256:1", Approval::denied)), ErrorCode::conflict);
  token.wish = first;
  token.wish->approval = Approval::given;
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.enrolment_tokens.find_by_hash(token.hash); }), token);
}

TEST_P(IdentityStores, WhenANodeIsUnknown_ThenEveryChangeIsNotFound) {
  const auto id = next_id<NodeId>();

  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.nodes.set_state(id, NodeState::removed); })),
            ErrorCode::not_found);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.nodes.set_certificate(id, {}); })),
            ErrorCode::not_found);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.nodes.set_rotation(id, {}); })),
            ErrorCode::not_found);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.nodes.note_seen(id, {}); })),
            ErrorCode::not_found);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.nodes.count(id, {}); })), ErrorCode::not_found);
  EXPECT_EQ(load_node(id), std::nullopt);
}

TEST_P(IdentityStores, WhenLabelsOrPlanesCannotBeKept_ThenTheyAreInvalid) {
  const std::vector<Labels> bad_labels = {{{"", "x"}}, {{"a=b", "x"}}, {{"a\n", "x"}}, {{"a", "x\ny"}}};
  for (const auto& labels : bad_labels) {
    auto node = some_node("sky");
    node.labels = labels;
    EXPECT_EQ(code_of(add(node)), ErrorCode::invalid);
  }
  for (const auto& planes : std::vector<Planes>{{""}, {"a\nb"}}) {
    auto node = some_node("sky");
    node.planes = planes;
    EXPECT_EQ(code_of(add(node)), ErrorCode::invalid);
  }
}

TEST_P(IdentityStores, WhenNodesAreListed_ThenPagesHoldEachOnceOldestFirst) {
  std::vector<NodeId> ids;
  for (int i = 0; i < 7; ++i) {
    const auto node = some_node("n" + std::to_string(i));
    ASSERT_TRUE(add(node));
    ids.push_back(node.id);
  }

  std::vector<NodeId> seen;
  PageRequest request{.limit = 3, .cursor = ""};
  do {
    auto page = read([&](ReadTransaction& tx) { return tx.nodes.list(request); });
    ASSERT_TRUE(page);
    EXPECT_LE(page->rows.size(), 3U);
    for (const auto& row : page->rows) seen.push_back(row.id);
    request.cursor = page->next_cursor;
  } while (!request.cursor.empty());

  EXPECT_EQ(seen, ids);
}

// proves A1
TEST_P(IdentityStores, WhenTwoKeysRaceForAToken_ThenExactlyOneRedeemsIt) {
  add_token("hash");
  std::vector<Result<RedeemOutcome>> outcomes;
  const auto race = [&](Bytes key) -> Task<void> {
    auto work = [key](Transaction& tx) {
      return tx.enrolment_tokens.redeem(
          "hash", {.key_hash = key, .node = NodeId(), .answer = key, .redeemed_at = WallTime{50}});
    };
    outcomes.push_back(co_await database().transact(std::move(work)));
  };

  TaskGroup group(harness_->executor());
  group.spawn([&] { return race("key one"); });
  group.spawn([&] { return race("key two"); });
  harness_->drive(group);

  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_NE(outcomes[0].has_value(), outcomes[1].has_value());
  const auto& refused = outcomes[0] ? outcomes[1] : outcomes[0];
  EXPECT_EQ(code_of(refused), ErrorCode::enrolment_token_invalid);
}

// proves A1
TEST_P(IdentityStores, WhenTheSameKeyComesAgain_ThenItGetsTheFirstAnswerUntilTheTokenExpires) {
  const auto token = add_token("hash");
  const auto first = redeem("hash", "key", "answer one", 50);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_first);

  const auto again = redeem("hash", "key", "answer two", 60);

  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_first);
  EXPECT_EQ(again->redemption, first->redemption);
  EXPECT_EQ(again->redemption.answer, "answer one");
  EXPECT_EQ(code_of(redeem("hash", "key", "late", 100)), ErrorCode::enrolment_token_invalid);
  auto expected = token;
  expected.redemption = first->redemption;
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.enrolment_tokens.find_by_hash("hash"); }), expected);
}

// proves A1
TEST_P(IdentityStores, WhenATokenCannotBeUsed_ThenAllReasonsGiveOneAnswer) {
  add_token("used");
  add_token("old");
  ASSERT_TRUE(redeem("used", "its key", "", 50));

  const auto unknown = redeem("never made", "key", "", 50);
  const auto expired = redeem("old", "key", "", 100);
  const auto another_key = redeem("used", "other key", "", 50);

  for (const auto& refused : {unknown, expired, another_key}) {
    EXPECT_EQ(code_of(refused), ErrorCode::enrolment_token_invalid);
    EXPECT_EQ(refused.error().what(), unknown.error().what());
  }
}

TEST_P(IdentityStores, WhenTokensAreRevokedOrPruned_ThenUsedOnesNeedTheirExpiry) {
  const auto fresh = add_token("fresh");
  const auto used = add_token("used");
  ASSERT_TRUE(redeem("used", "key", "", 50));
  const auto revoke = [&](const EnrolmentTokenId& id) {
    return write([&](Transaction& tx) { return tx.enrolment_tokens.revoke(id); });
  };

  EXPECT_TRUE(revoke(fresh.id));
  EXPECT_EQ(code_of(revoke(fresh.id)), ErrorCode::not_found);
  EXPECT_EQ(code_of(revoke(used.id)), ErrorCode::conflict);
  EXPECT_EQ(*write([](Transaction& tx) { return tx.enrolment_tokens.prune(WallTime{100}); }), 0U);
  EXPECT_EQ(*write([](Transaction& tx) { return tx.enrolment_tokens.prune(WallTime{101}); }), 1U);
}

TEST_P(IdentityStores, WhenAllUnusedTokensAreRevoked_ThenOnlyUsedOnesStay) {
  add_token("fresh");
  add_token("used");
  ASSERT_TRUE(redeem("used", "key", "", 50));

  EXPECT_EQ(*write([](Transaction& tx) { return tx.enrolment_tokens.revoke_unused(); }), 1U);

  EXPECT_FALSE(*read([](ReadTransaction& tx) { return tx.enrolment_tokens.find_by_hash("fresh"); }));
  EXPECT_TRUE(*read([](ReadTransaction& tx) { return tx.enrolment_tokens.find_by_hash("used"); }));
}

TEST_P(IdentityStores, WhenATokenHashExists_ThenASecondIsAConflict) {
  const auto token = add_token("hash");
  auto second = token;
  second.id = next_id<EnrolmentTokenId>();

  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.enrolment_tokens.add(second); })),
            ErrorCode::conflict);
  const auto page = read([](ReadTransaction& tx) { return tx.enrolment_tokens.list({}); });
  ASSERT_TRUE(page);
  EXPECT_EQ(page->rows, std::vector{token});
}

TEST_P(IdentityStores, WhenAccountsAreKept_ThenNamesAreUniqueAndDisablingCanBeUndone) {
  auto account = add_account("ann");
  auto same_name = account;
  same_name.id = next_id<AccountId>();
  auto same_id = account;
  same_id.name = "bob";

  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.accounts.add(same_name); })),
            ErrorCode::name_taken);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.accounts.add(same_id); })), ErrorCode::conflict);
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.accounts.set_disabled(account.id, WallTime{8}); }));
  account.disabled_at = WallTime{8};
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.accounts.find(account.id); }), account);
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.accounts.set_disabled(account.id, std::nullopt); }));
  account.disabled_at.reset();
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.accounts.find_by_name("ann"); }), account);
  EXPECT_EQ(
      code_of(write([&](Transaction& tx) { return tx.accounts.set_disabled(same_name.id, std::nullopt); })),
      ErrorCode::not_found);
  EXPECT_EQ(read([](ReadTransaction& tx) { return tx.accounts.list({}); })->rows, std::vector{account});
}

TEST_P(IdentityStores, WhenAnApiTokenIsKept_ThenItIsFoundByHashAlsoWhenRevoked) {
  const auto account = add_account("ann");
  auto token = some_api_token(account.id, "hash");
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.api_tokens.add(token); }));

  const auto outcome = write([&](Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(tx.api_tokens.note_used(token.id, WallTime{20}));
    OUTHAUL_CHECK(tx.api_tokens.note_used(token.id, WallTime{15}));
    OUTHAUL_CHECK(tx.api_tokens.note_used(next_id<ApiTokenId>(), WallTime{15}));
    OUTHAUL_CHECK(tx.api_tokens.revoke(token.id, WallTime{30}));
    return tx.api_tokens.revoke(token.id, WallTime{40});
  });

  ASSERT_TRUE(outcome);
  token.last_used_at = WallTime{20};
  token.revoked_at = WallTime{30};
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.api_tokens.find_by_hash("hash"); }), token);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.api_tokens.find(token.id); }), token);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.api_tokens.revoke(next_id<ApiTokenId>(), {}); })),
            ErrorCode::not_found);
}

TEST_P(IdentityStores, WhenApiTokensAreAddedOrListed_ThenTheAccountMustExistAndHashesAreUnique) {
  const auto ann = add_account("ann");
  const auto bob = add_account("bob");
  const auto of_ann = some_api_token(ann.id, "one");
  const auto of_bob = some_api_token(bob.id, "two");
  const auto add_one = [&](const ApiTokenRow& token) {
    return write([&](Transaction& tx) { return tx.api_tokens.add(token); });
  };
  const auto list = [&](const AccountId& account) {
    return read([&](ReadTransaction& tx) { return tx.api_tokens.list(account, {}); })->rows;
  };

  EXPECT_TRUE(add_one(of_ann));
  EXPECT_TRUE(add_one(of_bob));
  EXPECT_EQ(code_of(add_one(some_api_token(ann.id, "two"))), ErrorCode::conflict);
  EXPECT_EQ(code_of(add_one(some_api_token(next_id<AccountId>(), "three"))), ErrorCode::not_found);
  EXPECT_EQ(list(ann.id), std::vector{of_ann});
  EXPECT_EQ(list(AccountId()), (std::vector{of_ann, of_bob}));
}

TEST_P(IdentityStores, WhenAPersonsKeyIsKept_ThenItIsListedForItsAccountUntilItIsRemoved) {
  const auto alice = add_account("alice");
  const auto bob = add_account("bob");
  const auto key_of = [this](const AccountId& account) {
    return UserKeyRow{next_id<KeyId>(), account, Bytes(32, '\x01'), "laptop", WallTime{7}};
  };
  const auto first = key_of(alice.id);
  const auto second = key_of(bob.id);
  const auto add_one = [&](const UserKeyRow& key) {
    return write([&](Transaction& tx) { return tx.user_keys.add(key); });
  };
  const auto list = [&](const AccountId& account) {
    return read([&](ReadTransaction& tx) { return tx.user_keys.list(account, {}); })->rows;
  };
  ASSERT_TRUE(add_one(first));
  ASSERT_TRUE(add_one(second));

  EXPECT_EQ(code_of(add_one(first)), ErrorCode::conflict);
  EXPECT_EQ(code_of(add_one(key_of(next_id<AccountId>()))), ErrorCode::not_found);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.user_keys.find(first.id); }), first);
  EXPECT_EQ(list(alice.id), std::vector{first});
  EXPECT_EQ(list(AccountId()).size(), 2U);
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.user_keys.remove(first.id); }));
  EXPECT_TRUE(list(alice.id).empty());
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.user_keys.remove(first.id); })),
            ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Adapters, IdentityStores, ::testing::Values("memory", "sqlite"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace outhaul::store
