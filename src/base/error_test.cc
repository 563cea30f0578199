#include "base/error.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace outhaul {
namespace {

Result<int> read_number(bool works) {
  if (works) return 7;
  return fail(ErrorCode::unavailable, "number store: away");
}
Result<int> next_number(bool works) {
  OUTHAUL_TRY(number, read_number(works));
  return number + 1;
}
Result<void> check_number(bool works) {
  if (works) return {};
  return fail(ErrorCode::invalid, "number: odd");
}
Result<std::string> check_twice(bool first, bool second) {
  OUTHAUL_CHECK(check_number(first));
  OUTHAUL_CHECK(check_number(second));
  return "even";
}

TEST(Try, WhenTheInnerCallFails_ThenItsErrorReachesTheCallerUnchanged) {
  const auto bad = next_number(false);

  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(bad.error().what(), "number store: away");
  EXPECT_EQ(next_number(true).value(), 8);
}

TEST(Check, WhenEitherCheckFails_ThenTheRestDoesNotRun) {
  EXPECT_TRUE(check_twice(true, true).has_value());
  EXPECT_FALSE(check_twice(false, true).has_value());
  EXPECT_FALSE(check_twice(true, false).has_value());
}

TEST(Error, WhenContextIsAdded_ThenItReadsFromTheOutsideIn) {
  const auto error =
      Error(ErrorCode::unavailable, "permission denied").during("open journal").during("load lease");

  EXPECT_EQ(error.what(), "load lease: open journal: permission denied");
  EXPECT_EQ(error.error_class(), ErrorClass::retry);
}

TEST(Error, WhenDetailsAreAdded_ThenTheirOrderIsKept) {
  const auto error =
      Error(ErrorCode::task_replayed, "seen before").with("state", "running").with("stream", "str_1");

  const std::vector<ErrorDetail> expected = {{"state", "running"}, {"stream", "str_1"}};
  EXPECT_EQ(error.details(), expected);
}

const ErrorCodeInfo all_codes[] = {
#define OUTHAUL_ERROR(name, error_class, http_status, meaning, remedy) info_of(ErrorCode::name),
#include "base/error_code_list.h"
#undef OUTHAUL_ERROR
};

TEST(ErrorCodes, WhenListed_ThenEachIsAtItsOwnPlaceAndFoundByItsWord) {
  std::set<std::string_view> names;
  std::size_t place = 0;
  for (const auto& info : all_codes) {
    SCOPED_TRACE(info.name);

    EXPECT_EQ(static_cast<std::size_t>(info.code), place++);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_EQ(find_error_code(info.name), info.code);
  }
}

TEST(ErrorCodes, WhenListed_ThenEachHasAStatusAndTwoWholeSentences) {
  for (const auto& info : all_codes) {
    SCOPED_TRACE(info.name);

    EXPECT_GE(info.http_status, 400);
    EXPECT_LT(info.http_status, 600);
    for (const auto sentence : {info.meaning, info.remedy}) {
      ASSERT_FALSE(sentence.empty());
      EXPECT_TRUE(std::isupper(static_cast<unsigned char>(sentence.front())) != 0);
      EXPECT_EQ(sentence.back(), '.');
    }
  }
}

TEST(FindErrorCode, WhenTheWordIsUnknown_ThenNothingIsFound) {
  for (const auto* word : {"", "Invalid", "invalid ", "no_such_code"})
    EXPECT_EQ(find_error_code(word), std::nullopt);
}

}  // namespace
}  // namespace outhaul
