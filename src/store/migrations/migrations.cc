#include "store/migrations/migrations.h"

#include <array>

namespace outhaul::store {
namespace {

constexpr const char* first_sql =
#include "store/migrations/0001_first.inc"
    ;

constexpr std::array chain = {
    Migration{.number = 1,
              .name = "first",
              .sha256 = "f31a604e13d96ee46f5d9cc2771771e5929921d7b9fd21a0cc95b2e0b951d288",
              .sql = first_sql},
};

}  // namespace

std::span<const Migration> migrations() { return chain; }

}  // namespace outhaul::store
