// Every SQLite store over one connection, put together as a transaction.
#pragma once

#include "store/sqlite_identity_stores.h"
#include "store/sqlite_task_stores.h"

namespace outhaul::store {

struct SqliteStores {
  explicit SqliteStores(SqliteConnection& connection)
      : nodes(connection),
        enrolment_tokens(connection),
        accounts(connection),
        api_tokens(connection),
        user_keys(connection),
        tasks(connection),
        streams(connection),
        idempotency(connection),
        deployment(connection) {}
  Transaction transaction() {
    return {nodes, enrolment_tokens, accounts,    api_tokens, user_keys,
            tasks, streams,          idempotency, deployment};
  }
  ReadTransaction read_transaction() {
    return {nodes, enrolment_tokens, accounts,    api_tokens, user_keys,
            tasks, streams,          idempotency, deployment};
  }

  SqliteNodeStore nodes;
  SqliteEnrolmentTokenStore enrolment_tokens;
  SqliteAccountStore accounts;
  SqliteApiTokenStore api_tokens;
  SqliteUserKeyStore user_keys;
  SqliteTaskStore tasks;
  SqliteStreamStore streams;
  SqliteIdempotencyStore idempotency;
  SqliteDeploymentStore deployment;
};

}  // namespace outhaul::store
