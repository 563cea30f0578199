#include "store/migrations/migrations.h"

#include <array>

namespace outhaul::store {
namespace {

constexpr const char* first_sql =
#include "store/migrations/0001_first.inc"
    ;

constexpr const char* rotation_sql =
#include "store/migrations/0002_rotation.inc"
    ;

constexpr const char* ephemeral_sql =
#include "store/migrations/0003_ephemeral.inc"
    ;

constexpr std::array chain = {
    Migration{.number = 1,
              .name = "first",
              .sha256 = "f31a604e13d96ee46f5d9cc2771771e5929921d7b9fd21a0cc95b2e0b951d288",
              .sql = first_sql},
    Migration{.number = 2,
              .name = "rotation",
              .sha256 = "9bb83df4a878564399b20c3debee8450955dc25f0d24f56537793ae2721037dc",
              .sql = rotation_sql},
    Migration{.number = 3,
              .name = "ephemeral",
              .sha256 = "7cfcb8f4f7b3eb7ef3588ce3317979fcf79574560fa061a709a0b78bc8d53e40",
              .sql = ephemeral_sql},
};

}  // namespace

std::span<const Migration> migrations() { return chain; }

}  // namespace outhaul::store
