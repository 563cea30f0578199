#include "base/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <type_traits>
#include <utility>

namespace outhaul {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);
static_assert(!Streamable<Secret>);
static_assert(!fmt::is_formattable<Secret>::value);

TEST(Secret, WhenRevealed_ThenTheTextIsWhole) {
  const Secret secret(std::string("a\0b", 3));

  EXPECT_EQ(secret.reveal_for("test"), std::string_view("a\0b", 3));
}

TEST(Secret, WhenMovedFrom_ThenTheSourceHoldsNothing) {
  Secret source("swordfish");

  const Secret target(std::move(source));

  EXPECT_EQ(target.reveal_for("test"), "swordfish");
  EXPECT_TRUE(source.is_empty());  // NOLINT(bugprone-use-after-move): what is left behind is the point
}

TEST(Secret, WhenAssignedOver_ThenItHoldsTheNewTextAndTheSourceNothing) {
  Secret target("old");
  Secret source("new and longer than the small buffer of a string");

  target = std::move(source);

  EXPECT_TRUE(target.equals("new and longer than the small buffer of a string"));
  EXPECT_TRUE(source.is_empty());  // NOLINT(bugprone-use-after-move)
}

TEST(Secret, WhenShortTextIsWiped_ThenItsBytesAreZero) {
  // Text of up to 15 bytes lies inside the object, so that it can be looked at after the wipe.
  Secret secret("hunter2");
  const auto* bytes = secret.reveal_for("test").data();

  const Secret moved(std::move(secret));

  EXPECT_EQ(std::string_view(bytes, 7), std::string_view("\0\0\0\0\0\0\0", 7));
}

TEST(SecretEquals, WhenTextDiffersAnywhere_ThenItIsNotEqual) {
  const Secret secret("swordfish");
  struct Row {
    std::string_view text;
    bool is_equal;
  };
  const Row rows[] = {{"swordfish", true},
                      {"Swordfish", false},
                      {"swordfisH", false},
                      {"swordfis", false},
                      {"swordfishh", false},
                      {"", false},
                      {std::string_view("swordfish\0", 10), false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);

    EXPECT_EQ(secret.equals(row.text), row.is_equal);
  }
}

}  // namespace
}  // namespace outhaul
