// What a transaction may touch. Hand a function the one store it needs, not the whole transaction:
// code that holds a TaskReader cannot write.
#pragma once

#include "store/account_store.h"
#include "store/api_token_store.h"
#include "store/deployment_store.h"
#include "store/enrolment_token_store.h"
#include "store/idempotency_store.h"
#include "store/node_store.h"
#include "store/stream_store.h"
#include "store/task_store.h"
#include "store/user_key_store.h"

namespace outhaul::store {

// All of them read and write the same transaction; none is kept after the callable returns.
struct Transaction {
  NodeStore& nodes;
  EnrolmentTokenStore& enrolment_tokens;
  AccountStore& accounts;
  ApiTokenStore& api_tokens;
  UserKeyStore& user_keys;
  TaskStore& tasks;
  StreamStore& streams;
  IdempotencyStore& idempotency;
  DeploymentStore& deployment;
};

struct ReadTransaction {
  NodeReader& nodes;
  EnrolmentTokenReader& enrolment_tokens;
  AccountReader& accounts;
  ApiTokenReader& api_tokens;
  UserKeyReader& user_keys;
  TaskReader& tasks;
  StreamReader& streams;
  IdempotencyReader& idempotency;
  DeploymentReader& deployment;
};

}  // namespace outhaul::store
