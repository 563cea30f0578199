#include "store/row_rules.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {
namespace {

using Setting = std::pair<std::string, Bytes>;

Deployment read_deployment(SqliteStatement& in) {
  Deployment deployment;
  deployment.name = in.text();
  deployment.hub_epoch = static_cast<std::uint64_t>(in.integer());
  deployment.created_at = in.time();
  return deployment;
}

Bytes read_value(SqliteStatement& in) { return in.blob(); }

Setting read_setting(SqliteStatement& in) {
  auto name = in.text();
  return {std::move(name), in.blob()};
}

}  // namespace

Result<Deployment> SqliteDeploymentStore::load() {
  OUTHAUL_TRY(found, read_optional(connection_.query("SELECT name, hub_epoch, created_at FROM deployment"),
                                   read_deployment));
  if (!found) return fail(ErrorCode::store_corrupt, "database: it is bound to no deployment");
  return std::move(*found);
}

Result<std::optional<Bytes>> SqliteDeploymentStore::find_setting(const std::string& name) {
  return read_optional(connection_.query("SELECT value FROM settings WHERE name = ?", name), read_value);
}

Result<std::map<std::string, Bytes>> SqliteDeploymentStore::settings(const std::string& prefix) {
  OUTHAUL_TRY(rows, read_all(connection_.query("SELECT name, value FROM settings WHERE name >= ?1 "
                                               "AND substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT ?2",
                                               prefix, std::int64_t{max_page_rows} + 1),
                             read_setting));
  if (rows.size() > max_page_rows) return fail(ErrorCode::exhausted, "settings: too many for one answer");
  return std::map<std::string, Bytes>(std::make_move_iterator(rows.begin()),
                                      std::make_move_iterator(rows.end()));
}

Result<std::uint64_t> SqliteDeploymentStore::raise_hub_epoch(std::uint64_t least) {
  OUTHAUL_TRY(
      epoch, connection_.number("UPDATE deployment SET hub_epoch = max(hub_epoch + 1, ?) RETURNING hub_epoch",
                                static_cast<std::int64_t>(least)));
  return static_cast<std::uint64_t>(epoch);
}

Result<void> SqliteDeploymentStore::put_setting(const std::string& name, const Bytes& value) {
  OUTHAUL_CHECK(check_setting(name, value));
  OUTHAUL_CHECK(connection_.change(
      "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", name,
      Blob(value)));
  return {};
}

Result<bool> SqliteDeploymentStore::remove_setting(const std::string& name) {
  OUTHAUL_TRY(removed, connection_.change("DELETE FROM settings WHERE name = ?", name));
  return removed != 0;
}

}  // namespace outhaul::store
