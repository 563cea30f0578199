// What a crash left over in the stream store: streams whose place in the database is durable but which the
// journal was not yet told to forget.
#pragma once

#include "hub/hub_ports.h"
#include "hub/tasks/live_task.h"
#include "store/database.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

// Forgets archived output and the input of ended tasks. Streams of live tasks stay, and so do those that no
// row knows: their node brings the task back. Errors of the database and the journal.
Task<Result<void>> sweep_streams(const HubPorts& ports, const TaskBoard& board, stream::StreamStore& streams);

}  // namespace outhaul::hub
