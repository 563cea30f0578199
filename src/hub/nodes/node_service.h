// NodeService: the nodes of the deployment, as administrators see and change them, and their sessions.
//   runs on  the hub's strand
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/task_group.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"
#include "hub/nodes/node_gate.h"
#include "hub/nodes/node_registry.h"
#include "hub/nodes/renewal.h"
#include "hub/tasks/dispatcher.h"
#include "store/database.h"
#include "transport/carrier.h"

namespace outhaul::hub {

class NodeService {
 public:
  struct Needs {
    const HubSettings& settings;
    const HubKeys& keys;
    NodeRegistry& registry;
    NodeGate& gate;
    Dispatcher& dispatcher;
    RenewalService& renewal;
    HubAudit& audit;
    NodeSession::Needs session;
  };
  NodeService(const HubPorts& ports, const Needs& needs);

  // Reads every node into the registry. Errors of the database.
  Task<Result<void>> load_all();

  // A connection on which a node is expected: handshake, then the session, as children of this service.
  void attach(std::unique_ptr<transport::Carrier> carrier);

  struct Listing {
    std::vector<const NodeRecord*> records;  // oldest id first; hold until the next suspension
    std::string next_cursor;                 // empty: the last page
  };
  // The cursor is the last id of the page before. invalid: another cursor, or a limit
  // outside 1..max_page_rows.
  Result<Listing> list(const store::PageRequest& page, const std::string& pool) const;
  // By id or name. not_found.
  Result<const NodeRecord*> find(const std::string& id_or_name) const;

  // The question to the person at the node that this task waits for; null: it waits for none, or the node is
  // away.
  const v1::Question* find_question(const NodeId& node, const TaskId& task) const {
    return needs_.registry.find_question(node, task);
  }
  std::vector<const NodeRecord*> attached() const;
  // Sends an answer to the node. What it does with it shows in the task.
  //   errors  not_found: no such question. denied: the node's owner answers alone. invalid: not for the
  //   session.
  //           unavailable: the node is away
  Result<void> answer_question(const v1::AnswerQuestion& answer);

  // Gives the node's id. not_found.
  Task<Result<NodeId>> set_drain(std::string id_or_name, bool drain);
  // The identity no longer holds and the session is closed; what ran there is lost, for the reason that
  // `loss` gives. not_found.
  Task<Result<void>> remove(std::string id_or_name,
                            std::string loss = "its node was removed from the hub while it ran");

  // Writes down, now and then until cancelled, when nodes were last seen.
  Task<void> save_sightings();

  // Ends handshakes and sessions with this reason and waits for them.
  Task<void> close(Error reason);

 private:
  Task<void> shake_hands(std::unique_ptr<transport::Carrier> carrier);
  Task<void> serve(NodeSession& session);
  wire::HubSession::Config session_config() const;
  Task<void> save_changed();

  AsyncClock& clock_;
  Random& random_;
  store::Database& database_;
  const Log& log_;
  Needs needs_;
  // Not in the frames of their coroutines: those may be destroyed in any order when the process ends.
  std::map<SessionId, std::unique_ptr<NodeSession>> live_;
  std::uint64_t attachments_ = 0;
  TaskGroup handshakes_;
  TaskGroup sessions_;
};

}  // namespace outhaul::hub
