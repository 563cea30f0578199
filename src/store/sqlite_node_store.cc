#include "store/row_rules.h"
#include "store/sqlite_columns.h"
#include "store/sqlite_identity_stores.h"
#include "store/sqlite_rows.h"

namespace outhaul::store {
namespace {

#define OUTHAUL_NODE_COLUMNS                                                                          \
  "id, name, pool, labels, planes, enrolled_at, state, certificate_fingerprint, certificate_serial, " \
  "certificate_expires_at, signing_key, seen_at, version, manifest, tasks_finished, tasks_failed, "   \
  "tasks_lost, crashes, rotation_requested_at, certificates_from, ephemeral"

// Counters are below 2^63 in any life of a node.
std::int64_t column_of(std::uint64_t count) { return static_cast<std::int64_t>(count); }

NodeCounters read_counters(SqliteStatement& in) {
  NodeCounters counters;
  counters.tasks_finished = static_cast<std::uint64_t>(in.integer());
  counters.tasks_failed = static_cast<std::uint64_t>(in.integer());
  counters.tasks_lost = static_cast<std::uint64_t>(in.integer());
  counters.crashes = static_cast<std::uint64_t>(in.integer());
  return counters;
}

NodeRow read_node(SqliteStatement& in) {
  NodeRow node;
  node.id = in.id<NodeId>();
  node.name = in.text();
  node.pool = in.text();
  node.labels = assume_labels(in.text());
  node.planes = assume_planes(in.text());
  node.enrolled_at = in.time();
  node.state = static_cast<NodeState>(in.integer());
  node.certificate.fingerprint = in.text();
  node.certificate.serial = in.text();
  node.certificate.expires_at = in.time();
  node.signing_key = in.blob();
  node.last_seen.seen_at = in.time();
  node.last_seen.version = in.text();
  node.last_seen.manifest_json = in.text();
  node.counters = read_counters(in);
  node.rotation.requested_at = in.time();
  node.rotation.certificates_from = in.time();
  node.is_ephemeral = in.integer() != 0;
  return node;
}

// A change by id: the id exists or it is `not_found`.
Result<void> expect_node(Result<std::uint64_t> changed) {
  OUTHAUL_CHECK(changed);
  if (*changed == 0) return no_such_row("node");
  return {};
}

}  // namespace

Result<std::optional<NodeRow>> SqliteNodeStore::find(const NodeId& id) {
  return read_optional(connection_.query("SELECT " OUTHAUL_NODE_COLUMNS " FROM nodes WHERE id = ?", id),
                       read_node);
}

Result<std::optional<NodeRow>> SqliteNodeStore::find_by_name(const std::string& name) {
  return read_optional(
      connection_.query("SELECT " OUTHAUL_NODE_COLUMNS " FROM nodes WHERE name = ? AND state <> 2", name),
      read_node);
}

Result<Page<NodeRow>> SqliteNodeStore::list(const PageRequest& page) {
  OUTHAUL_TRY(start, parse_page_start<NodeId>(page));
  return read_page(
      connection_.query("SELECT " OUTHAUL_NODE_COLUMNS " FROM nodes WHERE id > ? ORDER BY id LIMIT ?", start,
                        rows_to_fetch(page)),
      read_node, page.limit);
}

Result<void> SqliteNodeStore::add(const NodeRow& node) {
  OUTHAUL_CHECK(check_labels(node.labels));
  OUTHAUL_CHECK(check_planes(node.planes));
  OUTHAUL_TRY(same_id, find(node.id));
  if (same_id) return row_exists("node");
  auto added = insert(node);
  if (!added && is_unique_violation(added.error())) {
    return fail(ErrorCode::name_taken, "node: another one has this name");
  }
  return added;
}

Result<void> SqliteNodeStore::insert(const NodeRow& node) {
  const auto& certificate = node.certificate;
  const auto& seen = node.last_seen;
  const auto& counters = node.counters;
  OUTHAUL_CHECK(connection_.change(
      "INSERT INTO nodes (" OUTHAUL_NODE_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      node.id, node.name, node.pool, column_of(node.labels), column_of(node.planes), node.enrolled_at,
      static_cast<std::int64_t>(node.state), certificate.fingerprint, certificate.serial,
      certificate.expires_at, Blob(node.signing_key), seen.seen_at, seen.version, seen.manifest_json,
      column_of(counters.tasks_finished), column_of(counters.tasks_failed), column_of(counters.tasks_lost),
      column_of(counters.crashes), node.rotation.requested_at, node.rotation.certificates_from,
      static_cast<std::int64_t>(node.is_ephemeral)));
  return {};
}

Result<void> SqliteNodeStore::set_state(const NodeId& id, NodeState state) {
  OUTHAUL_TRY(changed,
              connection_.change("UPDATE nodes SET state = ?1 WHERE id = ?2 AND (state <> 2 OR ?1 = 2)",
                                 static_cast<std::int64_t>(state), id));
  if (changed != 0) return {};
  OUTHAUL_TRY(node, find(id));
  if (!node) return no_such_row("node");
  return fail(ErrorCode::node_removed, "node: it was removed");
}

Result<void> SqliteNodeStore::set_certificate(const NodeId& id, const NodeCertificate& certificate) {
  return expect_node(
      connection_.change("UPDATE nodes SET certificate_fingerprint = ?, certificate_serial = ?, "
                         "certificate_expires_at = ? WHERE id = ?",
                         certificate.fingerprint, certificate.serial, certificate.expires_at, id));
}

Result<void> SqliteNodeStore::set_rotation(const NodeId& id, const NodeRotation& rotation) {
  return expect_node(
      connection_.change("UPDATE nodes SET rotation_requested_at = ?, certificates_from = ? WHERE id = ?",
                         rotation.requested_at, rotation.certificates_from, id));
}

Result<void> SqliteNodeStore::note_seen(const NodeId& id, const NodeSighting& sighting) {
  return expect_node(
      connection_.change("UPDATE nodes SET seen_at = ?, version = ?, manifest = ? WHERE id = ?",
                         sighting.seen_at, sighting.version, sighting.manifest_json, id));
}

Result<void> SqliteNodeStore::count(const NodeId& id, const NodeCounters& increments) {
  return expect_node(connection_.change(
      "UPDATE nodes SET tasks_finished = tasks_finished + ?, tasks_failed = tasks_failed + ?, "
      "tasks_lost = tasks_lost + ?, crashes = crashes + ? WHERE id = ?",
      column_of(increments.tasks_finished), column_of(increments.tasks_failed),
      column_of(increments.tasks_lost), column_of(increments.crashes), id));
}

}  // namespace outhaul::store
