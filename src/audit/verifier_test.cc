#include "audit/verifier.h"

#include <gtest/gtest.h>

#include "testing/audit_chain.h"

namespace outhaul::audit {
namespace {

using testing::AuditChain;
using Files = std::map<std::string, Bytes>;

// Two files, checkpoints in the middle and at the end.
AuditChain make_chain() {
  AuditChain chain;
  chain.add_entries(3);
  chain.add_checkpoint();
  chain.add_entries(1);
  chain.begin_file();
  chain.add_entries(2);
  chain.add_checkpoint();
  return chain;
}

LogReport verify(const Files& files, const AuditChain& owner, std::vector<Witnessed> witnessed = {}) {
  ChainVerifier verifier({owner.log(), owner.trusted(), std::move(witnessed)});
  for (const auto& [name, bytes] : files) verifier.read_file(name, bytes);
  verifier.finish();
  return verifier.report();
}

Witnessed held_by_hub(AuditChain& chain) { return {"hub:example.org", chain.head(), {}}; }

// Where a byte of the log stands, as the verifier should name it: the record or file header that it is in.
std::uint64_t place_of(const Bytes& file, std::uint64_t at) {
  if (at < log_file_header_bytes) return 0;
  std::uint64_t place = log_file_header_bytes;
  while (true) {
    const auto size = parse_record(ByteView(file).substr(place))->size();
    if (at < place + size) return place;
    place += size;
  }
}

TEST(ChainVerifier, WhenNothingWasChanged_ThenTheLogIsWhole) {
  auto chain = make_chain();

  const auto report = verify(chain.files(), chain, {held_by_hub(chain)});

  EXPECT_TRUE(report.is_whole()) << report.findings.front().what;
  EXPECT_EQ(report.files, 2U);
  EXPECT_EQ(report.entries, 6U);
  EXPECT_EQ(report.checkpoints, 2U);
  EXPECT_EQ(report.unsigned_records, 0U);
  EXPECT_EQ(report.tip, chain.tip());
  EXPECT_EQ(report.witnessed_until, chain.tip().sequence);
}

// proves N1
TEST(ChainVerifier, WhenAnyByteIsChanged_ThenItsRecordIsNamed) {
  const auto chain = make_chain();
  for (const auto& [name, bytes] : chain.files()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const char mask : {'\x01', '\x80'}) {
        SCOPED_TRACE(name + " at " + std::to_string(at));
        Files files = chain.files();
        files[name][at] = static_cast<char>(files[name][at] ^ mask);

        const auto report = verify(files, chain);

        ASSERT_EQ(report.findings.size(), 1U);
        EXPECT_EQ(report.findings[0].file, name);
        EXPECT_EQ(report.findings[0].offset, place_of(bytes, at)) << report.findings[0].what;
        EXPECT_FALSE(report.findings[0].what.empty());
      }
    }
  }
}

// proves N1
TEST(ChainVerifier, WhenAnyRecordIsRemovedOrMoved_ThenThePlaceIsNamed) {
  auto chain = make_chain();
  const auto head = held_by_hub(chain);
  for (const auto& [name, bytes] : chain.files()) {
    for (std::size_t at = log_file_header_bytes; at < bytes.size();) {
      SCOPED_TRACE(name + " at " + std::to_string(at));
      const auto size = parse_record(ByteView(bytes).substr(at))->size();
      Files removed = chain.files();
      removed[name].erase(at, size);
      Files doubled = chain.files();
      doubled[name].insert(at, bytes.substr(at, size));

      const auto without = verify(removed, chain, {head});
      const auto with_twice = verify(doubled, chain);

      ASSERT_FALSE(without.is_whole());
      EXPECT_LE(without.findings[0].sequence, chain.tip().sequence + 1);
      ASSERT_FALSE(with_twice.is_whole());
      EXPECT_EQ(with_twice.findings[0].offset, at + size);
      at += size;
    }
  }
}

// proves N1, X64
TEST(ChainVerifier, WhenTheTailIsCutAtAnyLength_ThenTheHeadInOtherHandsShowsIt) {
  auto chain = make_chain();
  const auto head = held_by_hub(chain);
  for (const auto& [name, bytes] : chain.files()) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      SCOPED_TRACE(name + " cut to " + std::to_string(length));
      Files files = chain.files();
      files.erase(files.upper_bound(name), files.end());
      files[name].resize(length);

      const auto report = verify(files, chain, {head});

      ASSERT_FALSE(report.is_whole());
      EXPECT_GT(report.findings[0].sequence, 0U);
    }
  }
}

// proves X64
TEST(ChainVerifier, WhenFilesAreGone_ThenTheMissingRecordsAreNamed) {
  auto chain = make_chain();
  const auto head = held_by_hub(chain);
  Files without_front = chain.files();
  without_front.erase(without_front.begin());
  Files without_end = chain.files();
  without_end.erase(std::prev(without_end.end()));

  const auto front = verify(without_front, chain, {head});
  const auto end = verify(without_end, chain, {head});
  const auto nothing = verify({}, chain, {head});

  ASSERT_EQ(front.findings.size(), 1U);
  EXPECT_EQ(front.findings[0].what, "records 1 to 6 are missing before this file");
  ASSERT_EQ(end.findings.size(), 1U);
  EXPECT_EQ(end.findings[0].what,
            "the log ends at record 6, and hub:example.org holds a signed head of record 9");
  EXPECT_FALSE(nothing.is_whole());
}

// proves X64
TEST(ChainVerifier, WhenTheLogLetItsBeginningGo_ThenOnlyExactlyThatMayBeMissing) {
  auto chain = make_chain();
  const auto early = held_by_hub(chain);
  const auto first_end = parse_file_header(chain.files().rbegin()->second)->before;
  chain.add_trim(first_end);
  chain.begin_file();
  chain.add_entries(1);
  chain.add_checkpoint();
  Files trimmed = chain.files();
  trimmed.erase(trimmed.begin());
  Files one_more = trimmed;
  one_more.erase(one_more.begin());
  const Witnessed from_before{"hub:example.org", {chain.log(), chain.incarnation(), {2, "?"}, {}}, {}};

  const auto report = verify(trimmed, chain, {early, from_before});
  ChainVerifier by_its_own_word({});
  for (const auto& [name, bytes] : trimmed) by_its_own_word.read_file(name, bytes);
  by_its_own_word.finish();

  EXPECT_TRUE(report.is_whole()) << report.findings.front().what;
  EXPECT_EQ(report.witnessed_until, early.head.tip.sequence);
  EXPECT_EQ(report.notices.size(), 2U);
  EXPECT_TRUE(by_its_own_word.report().is_whole());
  EXPECT_EQ(by_its_own_word.report().log, chain.log());
  EXPECT_TRUE(verify(chain.files(), chain).is_whole());
  ASSERT_FALSE(verify(one_more, chain).is_whole());
  EXPECT_EQ(verify(one_more, chain).findings[0].what, "records 1 to 10 are missing before this file");
}

TEST(ChainVerifier, WhenFilesHaveEachOthersNames_ThenTheLogIsNotWhole) {
  const auto chain = make_chain();
  Files files = chain.files();
  std::swap(files.begin()->second, files.rbegin()->second);
  Files renamed;
  for (const auto& [name, bytes] : chain.files()) renamed["audit-9" + name.substr(7)] = bytes;

  EXPECT_FALSE(verify(files, chain).is_whole());
  ASSERT_FALSE(verify(renamed, chain).is_whole());
  EXPECT_EQ(verify(renamed, chain).findings[0].what, "the file has another's name");
}

// Whoever can write the file can also compute hashes; only the signature stops that.
TEST(ChainVerifier, WhenTheWholeLogIsForged_ThenItsSignatureDoesNotHold) {
  const AuditChain owner;
  AuditChain forged(owner.log(), 99);
  forged.add_entries(3);
  forged.add_checkpoint();

  const auto report = verify(forged.files(), owner);

  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].what, "no trusted key signed the last checkpoint");
  EXPECT_EQ(report.findings[0].sequence, 5U);
}

// proves X64
TEST(ChainVerifier, WhenTheLogWasMadeAgain_ThenAHeadOfTheEarlierOneShowsIt) {
  AuditChain first("node_test", 1);
  first.add_entries(5);
  const auto head = held_by_hub(first);
  AuditChain second("node_test", 2);
  second.add_entries(9);

  const auto report = verify(second.files(), second, {head});

  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].what,
            "hub:example.org holds a signed head of an earlier log, which this one has replaced");
}

TEST(ChainVerifier, WhenTheLogGoesOnOtherwiseThanAHead_ThenTheRecordIsNamed) {
  auto chain = make_chain();
  auto witnessed = held_by_hub(chain);
  witnessed.head.tip.sequence = 4;

  const auto report = verify(chain.files(), chain, {witnessed});

  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].sequence, 4U);
}

TEST(ChainVerifier, WhenALogSaysThatItWasRestored_ThenHeadsFromBeforeAreNotedAndLaterOnesStillCount) {
  auto chain = make_chain();
  auto lost = held_by_hub(chain);
  lost.head.tip = {12, Bytes(chain_hash_bytes, 'x')};
  chain.add_entry(AuditEntry(AuditAction::log_restored, "hub", chain.log()).with("epoch", "2"));
  chain.add_checkpoint();
  auto later = held_by_hub(chain);
  later.head.tip.sequence = 50;

  const auto declared = verify(chain.files(), chain, {lost});
  const auto undeclared = verify(chain.files(), chain, {lost, later});

  EXPECT_TRUE(declared.is_whole());
  EXPECT_EQ(declared.notices.size(), 2U);
  ASSERT_EQ(undeclared.findings.size(), 1U);
  EXPECT_NE(undeclared.findings[0].what.find("record 50"), std::string::npos);
}

TEST(ChainVerifier, WhenTheEndStandsInAJournal_ThenItCountsWithoutASignature) {
  auto chain = make_chain();
  const auto files = chain.files();
  const auto kept = chain.records().size();
  chain.add_entries(2);
  ChainVerifier verifier({chain.log(), chain.trusted(), {held_by_hub(chain)}});

  for (const auto& [name, bytes] : files) verifier.read_file(name, bytes);
  for (std::size_t i = kept - 2; i < chain.records().size(); ++i) verifier.read_journaled(chain.records()[i]);
  verifier.finish();

  EXPECT_TRUE(verifier.report().is_whole());
  EXPECT_EQ(verifier.report().unsigned_records, 2U);
}

TEST(ChainVerifier, WhenRecordsComeInPieces_ThenNothingIsReadTwice) {
  auto chain = make_chain();
  Bytes all;
  for (const auto& record : chain.records()) all += record;
  ChainVerifier verifier({chain.log(), chain.trusted(), {}});

  Bytes rest;
  std::uint64_t read = 0;
  for (std::size_t at = 0; at < all.size(); at += 50) {
    rest += all.substr(at, 50);
    const auto taken = verifier.read_records("bundle", read, rest);
    rest.erase(0, taken);
    read += taken;
  }
  verifier.finish(rest.size());

  EXPECT_TRUE(verifier.report().is_whole());
  EXPECT_EQ(verifier.report().tip, chain.tip());
}

}  // namespace
}  // namespace outhaul::audit
