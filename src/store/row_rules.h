// The rules that a row must hold in every adapter, checked before anything is written.
#pragma once

#include "base/error.h"
#include "store/deployment_store.h"
#include "store/node_store.h"
#include "store/stream_store.h"
#include "store/task_store.h"

namespace outhaul::store {

// Each fails with `invalid` (or the code named in the store's header) and names the broken rule.
Result<void> check_labels(const Labels& labels);
Result<void> check_planes(const Planes& planes);
Result<void> check_stream(const StreamRow& stream, ByteView records);
Result<void> check_setting(const std::string& name, const Bytes& value);
// Whether a task in state `from` may be told `to`; see TaskStore::advance.
Result<void> check_advance(TaskState from, TaskState to);
Result<void> check_finish(TaskState from, TaskState to);

// The same sentences from both adapters.
std::unexpected<Error> no_such_row(std::string_view noun);
std::unexpected<Error> row_exists(std::string_view noun);
std::unexpected<Error> task_is_final();
// One answer for a token that is unknown, expired or used by another key: a guesser learns nothing.
std::unexpected<Error> enrolment_token_refused();
// Of a decision about an enrolment.
std::unexpected<Error> nobody_asked();
std::unexpected<Error> decided_otherwise();

}  // namespace outhaul::store
