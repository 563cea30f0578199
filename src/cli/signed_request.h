// The body of `POST /api/v1/tasks` that a person has signed. What is signed is made here, from what was
// typed: of the hub it asks only who we are and which node is meant.
#pragma once

#include "base/bytes.h"
#include "cli/api.h"
#include "cli/task_request.h"
#include "wire/user_order.h"

namespace outhaul::cli {

// What the hub knows and the person did not type.
struct OrderFacts {
  std::string deployment;
  AccountId account;
  NodeId node;
  std::string node_name;  // as it was typed; empty: none was
  WallTime now;
  Bytes nonce;
};

// The order for `fields`, as task_fields gives them. Pure.
//   errors  invalid: it would have to be good for longer than a day
Result<wire::UserOrder> order_of(const json::object& fields, const OrderFacts& facts);

// The one node among those listed that a task of these fields could run on now.
//   errors  invalid: none or several: what is signed is for one node
Result<NodeId> only_node(const json::array& nodes, const json::object& fields);

// Asks the hub, signs. Errors of the command line, of the key and of the hub.
Task<Result<Bytes>> sign_request(Cli& cli, Api& api, RunOptions options);

}  // namespace outhaul::cli
