// NodeRegistry: every enrolled node in memory: its row, and what is known of it while it is attached. Rows
// come from the database at start and from enrolment; live facts come from sessions.
//   runs on  the hub's strand
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "hub/nodes/node_link.h"
#include "hub/tasks/selector.h"
#include "outhaul/v1/session.pb.h"
#include "store/database.h"
#include "store/node_store.h"

namespace outhaul::hub {

// Facts that hold while a session lives.
struct NodeAttachment {
  NodeLink* link = nullptr;  // null between the end of one session and the start of its successor
  SessionId session;
  WallTime since;
  v1::Load load;
  std::map<TaskId, v1::Question> questions;  // to the person at the node, as the node says
};

struct NodeRecord {
  store::NodeRow row;
  NodeFacts facts;  // for selection; live_tasks is counted anew by whoever asks
  std::optional<NodeAttachment> attachment;
  WallTime last_seen_at;
  bool has_unsaved_sighting = false;
};

class NodeRegistry {
 public:
  // A row as it stands in the database; one that is known already is replaced, its live facts are kept.
  // Removed nodes are forgotten.
  void put(store::NodeRow row);
  void forget(const NodeId& id);

  // What a node is told that find() does not find: node_removed of one that was removed, and node_unknown of
  // one of which nothing is written down, for a hub that was restored knows no later nodes.
  static Task<Error> why_gone(store::Database& database, NodeId id);

  NodeRecord* find(const NodeId& id);
  const NodeRecord* find(const NodeId& id) const;
  // By id or by name.
  NodeRecord* find_by_text(const std::string& id_or_name);
  NodeLink* link_of(const NodeId& id) const;
  std::map<NodeId, NodeRecord>& records() { return records_; }
  const std::map<NodeId, NodeRecord>& records() const { return records_; }

  // A session is live. `slots` and isolation come from its Hello.
  void attach(const NodeId& id, NodeAttachment attachment, const v1::Hello& hello);
  // Only when `session` is still the one that is attached.
  void detach(const NodeId& id, const SessionId& session);
  // All that are open there now. What is over the limits of one message is left out.
  void note_questions(const NodeId& id, const v1::Questions& questions);
  // Whether a task waits for the person at its node.
  const v1::Question* find_question(const NodeId& node, const TaskId& task) const;
  void note_heartbeat(const NodeId& id, const v1::Load& load, WallTime now);

 private:
  std::map<NodeId, NodeRecord> records_;
};

// The node's own words as the row and the interface hold them.
std::string manifest_json(const v1::Manifest& manifest);

}  // namespace outhaul::hub
