#include "audit/bundle.h"

#include <gtest/gtest.h>

#include "testing/audit_chain.h"

namespace outhaul::audit {
namespace {

using testing::AuditChain;

Bytes bundle_of(AuditChain& chain, AuditChain& other) {
  BundleHead head;
  head.log = chain.log();
  head.front.incarnation = chain.incarnation();
  head.witnesses.push_back({other.head(), sign_head(other.head(), other.key()), {1}});
  Bytes bytes = serialise_bundle_head(head);
  for (const auto& record : chain.records()) bytes += record;
  return bytes;
}

bool is_whole(ByteView bytes, std::vector<Witnessed> witnessed, const AuditChain& owner) {
  BundleVerifier verifier(std::move(witnessed), owner.trusted());
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    if (!verifier.feed(bytes.substr(at, 97))) return false;
  }
  return verifier.finish() && verifier.report().is_whole();
}

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() {
    chain.add_entries(4);
    chain.add_checkpoint();
    bytes = bundle_of(chain, other);
    front = parse_bundle_head(bytes).value()->bytes;
  }
  AuditChain chain{"hub:example.org", 3};
  AuditChain other{"node_x", 4};
  Bytes bytes;
  std::size_t front = 0;
};

TEST_F(BundleTest, WhenReadInPieces_ThenItVerifiesAndGivesTheHeadsOfOthers) {
  const auto head = parse_bundle_head(bytes).value()->head;

  EXPECT_TRUE(is_whole(bytes, {{"node_x", chain.head(), {}}}, chain));
  ASSERT_EQ(head.witnesses.size(), 1U);
  EXPECT_EQ(head.witnesses[0].head.log, "node_x");
}

// proves N1
TEST_F(BundleTest, WhenAnyByteOfTheLogIsChangedOrItsEndIsCut_ThenItIsNotWhole) {
  const Witnessed known{"node_x", chain.head(), {}};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE(at);
    Bytes changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 2);

    EXPECT_FALSE(is_whole(changed, {known}, chain));
    EXPECT_FALSE(is_whole(ByteView(bytes).substr(0, at), {known}, chain));
  }
}

TEST_F(BundleTest, WhenItIsNoBundle_ThenThatIsSaid) {
  EXPECT_FALSE(is_whole("", {}, chain));
  EXPECT_FALSE(is_whole("OUTHAUL", {}, chain));
  EXPECT_FALSE(parse_bundle_head("not a bundle at all").has_value());
  EXPECT_FALSE(parse_bundle_head(Bytes("OUTHAULB\xff\xff\xff\xff", 12)).has_value());
  EXPECT_FALSE(parse_bundle_head(ByteView(bytes).substr(0, front - 1)).value().has_value());
}

// proves X64
TEST_F(BundleTest, WhenItsBeginningIsMissing_ThenItIsNotWholeUnlessTheLogLetItGo) {
  AuditChain trimmed("hub:example.org", 5);
  trimmed.add_entries(3);
  const auto before = trimmed.tip();
  const auto first_kept = trimmed.records().size();
  trimmed.add_entries(2);
  trimmed.add_checkpoint();
  BundleHead head{trimmed.log(), {trimmed.incarnation(), before}, {}, {}};
  Bytes unsaid = serialise_bundle_head(head);
  for (auto i = first_kept; i < trimmed.records().size(); ++i) unsaid += trimmed.records()[i];
  trimmed.add_trim(before);
  trimmed.add_checkpoint();
  Bytes said = serialise_bundle_head(head);
  for (auto i = first_kept; i < trimmed.records().size(); ++i) said += trimmed.records()[i];

  EXPECT_FALSE(is_whole(unsaid, {}, trimmed));
  EXPECT_TRUE(is_whole(said, {}, trimmed));
}

// proves X64
TEST_F(BundleTest, WhenOthersHoldHeadsUnderAnotherKey_ThenTheyAreNotedAndProveNothing) {
  AuditChain forger("hub:example.org", 77);
  forger.add_entries(40);
  const auto head = forger.head();
  BundleVerifier verifier({{"node_x", head, sign_head(head, forger.key())}}, {});

  ASSERT_TRUE(verifier.feed(bytes).has_value());
  ASSERT_TRUE(verifier.finish().has_value());

  EXPECT_TRUE(verifier.report().is_whole());
  EXPECT_EQ(verifier.report().notices.size(), 1U);
}

}  // namespace
}  // namespace outhaul::audit
