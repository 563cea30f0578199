// The chain of migrations keeps what a database that recorded it relies on.
#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "store/migrations/migrations.h"

namespace outhaul::store {
namespace {

// proves O8
TEST(Migrations, WhenTheyAreListed_ThenTheyAreNumberedInOrderAndTheirHashesHold) {
  int expected = 0;
  for (const auto& migration : migrations()) {
    EXPECT_EQ(migration.number, ++expected);
    EXPECT_EQ(migration.sha256, crypto::sha256_hex(migration.sql)) << migration.name;
  }
}

}  // namespace
}  // namespace outhaul::store
