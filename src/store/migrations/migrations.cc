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

constexpr const char* user_keys_sql =
#include "store/migrations/0004_user_keys.inc"
    ;

constexpr const char* doubt_sql =
#include "store/migrations/0005_doubt.inc"
    ;

constexpr const char* approval_sql =
#include "store/migrations/0006_approval.inc"
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
    Migration{.number = 4,
              .name = "user_keys",
              .sha256 = "b1a0ad478b44d0280f4e30121805ed4cc3c1adaa5bcaa5509a8323f832daec49",
              .sql = user_keys_sql},
    Migration{.number = 5,
              .name = "doubt",
              .sha256 = "c52cef1cabde5c541e0afc270ecf4c449294a5be153773051a12fbfea0a5ca67",
              .sql = doubt_sql},
    Migration{.number = 6,
              .name = "approval",
              .sha256 = "b0d279a80e30d3b53501f5c824326a38594e048a4d923f671917e0a21dc59a18",
              .sql = approval_sql},
};

}  // namespace

std::span<const Migration> migrations() { return chain; }

}  // namespace outhaul::store
