#include "hub/nodes/node_registry.h"

#include <algorithm>

#include "http/json_writer.h"
#include "wire/utf8.h"

namespace outhaul::hub {
namespace {

// Of one node; it asks no more at once.
constexpr std::size_t max_questions = 64;
constexpr std::size_t max_question_text_bytes = 1024;

void copy_row(const store::NodeRow& row, NodeFacts& facts) {
  facts.id = row.id;
  facts.name = row.name;
  facts.pool = row.pool;
  facts.labels = row.labels;
  facts.planes = row.planes;
  facts.is_draining = row.state == store::NodeState::draining;
}

// Levels that this version does not know cannot be asked for either.
std::vector<wire::IsolationLevel> levels_of(const v1::Manifest& manifest) {
  std::vector<wire::IsolationLevel> levels;
  for (const auto& word : manifest.isolation()) {
    if (const auto level = wire::parse_isolation(word)) levels.push_back(*level);
  }
  return levels;
}

void write_texts(http::JsonWriter& json, std::string_view key, const auto& texts) {
  json.key(key).begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

}  // namespace

void NodeRegistry::put(store::NodeRow row) {
  if (row.state == store::NodeState::removed) return forget(row.id);
  const auto [found, is_new] = records_.try_emplace(row.id);
  auto& record = found->second;
  copy_row(row, record.facts);
  if (is_new) record.last_seen_at = row.last_seen.seen_at;
  record.row = std::move(row);
}

void NodeRegistry::forget(const NodeId& id) { records_.erase(id); }

Task<Error> NodeRegistry::why_gone(store::Database& database, NodeId id) {
  auto work = [id](store::ReadTransaction& tx) { return tx.nodes.find(id); };
  const auto row = co_await database.read(std::move(work));
  if (!row) co_return row.error();
  if (!*row) co_return Error(ErrorCode::node_unknown, "this hub has no record of the node");
  co_return Error(ErrorCode::node_removed, "this node was removed from the hub");
}

NodeRecord* NodeRegistry::find(const NodeId& id) {
  const auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

const NodeRecord* NodeRegistry::find(const NodeId& id) const {
  const auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

NodeRecord* NodeRegistry::find_by_text(const std::string& id_or_name) {
  if (auto* record = find(NodeId::assume(id_or_name))) return record;
  const auto found = std::ranges::find_if(
      records_, [&id_or_name](const auto& entry) { return entry.second.row.name == id_or_name; });
  return found == records_.end() ? nullptr : &found->second;
}

NodeLink* NodeRegistry::link_of(const NodeId& id) const {
  const auto* record = find(id);
  return record != nullptr && record->attachment ? record->attachment->link : nullptr;
}

void NodeRegistry::attach(const NodeId& id, NodeAttachment attachment, const v1::Hello& hello) {
  auto* record = find(id);
  if (record == nullptr) return;
  record->last_seen_at = attachment.since;
  record->row.last_seen = {attachment.since, hello.version(), manifest_json(hello.manifest())};
  record->has_unsaved_sighting = true;
  record->facts.is_attached = true;
  record->facts.is_full_by_its_word = false;
  record->facts.slots = hello.slots();
  record->facts.isolation = levels_of(hello.manifest());
  record->facts.asks_user_signature = hello.manifest().asks_user_signature();
  attachment.load.set_slots(hello.slots());
  attachment.load.set_running(hello.running());
  attachment.load.set_locked(hello.locked());
  record->facts.is_locked = hello.locked();
  record->attachment = std::move(attachment);
}

void NodeRegistry::detach(const NodeId& id, const SessionId& session) {
  auto* record = find(id);
  if (record == nullptr || !record->attachment || record->attachment->session != session) return;
  record->attachment.reset();
  record->facts.is_attached = false;
}

void NodeRegistry::note_questions(const NodeId& id, const v1::Questions& questions) {
  auto* record = find(id);
  if (record == nullptr || !record->attachment) return;
  auto& open = record->attachment->questions;
  open.clear();
  for (const auto& question : questions.question()) {
    const auto task = TaskId::parse(question.task_id());
    if (!task || open.size() >= max_questions) continue;
    auto& kept = open[*task] = question;
    for (auto* text : {kept.mutable_why(), kept.mutable_program(), kept.mutable_program_sha256()}) {
      *text = wire::printable_utf8(*text, max_question_text_bytes);
    }
  }
}

const v1::Question* NodeRegistry::find_question(const NodeId& node, const TaskId& task) const {
  const auto* record = find(node);
  if (record == nullptr || !record->attachment) return nullptr;
  const auto found = record->attachment->questions.find(task);
  return found == record->attachment->questions.end() ? nullptr : &found->second;
}

void NodeRegistry::note_heartbeat(const NodeId& id, const v1::Load& load, WallTime now) {
  auto* record = find(id);
  if (record == nullptr || !record->attachment) return;
  record->attachment->load = load;
  record->facts.slots = load.slots();
  record->facts.is_locked = load.locked();
  record->facts.is_full_by_its_word = false;
  record->last_seen_at = now;
  record->row.last_seen.seen_at = now;
  record->has_unsaved_sighting = true;
}

std::string manifest_json(const v1::Manifest& manifest) {
  http::JsonWriter json;
  json.begin_object().field("platform", manifest.platform()).field("kernel", manifest.kernel());
  json.field("hostname", manifest.hostname());
  write_texts(json, "planes", manifest.planes());
  write_texts(json, "isolation", manifest.isolation());
  json.key("facts").begin_object();
  // A protobuf map has no order of its own; the row must be the same for the same facts.
  const std::map<std::string, std::string> facts(manifest.facts().begin(), manifest.facts().end());
  for (const auto& [name, value] : facts) json.field(name, value);
  json.end_object().end_object();
  return std::move(json).take_text();
}

}  // namespace outhaul::hub
