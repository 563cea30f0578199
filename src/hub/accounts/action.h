// Action: what a protected request wants to do, and the least role that may. Every protected route of the
// interface names exactly one.
#pragma once

#include <string_view>

#include "store/account_store.h"

namespace outhaul::hub {

enum class Action {
  see_self,
  manage_accounts,  // make, list, disable; make tokens for anybody
  use_own_tokens,   // list and revoke one's own
  use_own_keys,     // register, list and remove one's own public keys
  see_nodes,
  manage_nodes,  // drain, remove, enrolment tokens
  read_audit,    // the hub's audit log, whole
  run_tasks,     // submit, see, cancel and feed one's own tasks; read their streams
};

constexpr store::Role least_role(Action action) {
  switch (action) {
    case Action::manage_accounts:
    case Action::manage_nodes:
    case Action::read_audit: return store::Role::admin;
    case Action::see_self:
    case Action::use_own_tokens:
    case Action::use_own_keys:
    case Action::see_nodes:
    case Action::run_tasks: return store::Role::member;
  }
  return store::Role::admin;
}

}  // namespace outhaul::hub
