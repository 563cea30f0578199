// What the node's owner says to the running node and gets back: one JSON object each way. Who may speak is
// decided by whoever carries it: main/owner_socket.h.
//   {"do": "list"}                                    -> {"locked": ..., "questions": [...]}
//   {"do": "answer", "task": "task_...", "answer": "once"}   -> {}
//   {"do": "forget"}                                  -> {}        every yes for the session, every standing
//   no
//   {"do": "lock"}                                    -> {"locked": ...}   reads the lock again
// A failure is {"error": {"code": ..., "message": ...}}.
#pragma once

#include "base/bytes.h"
#include "base/task.h"

namespace outhaul::node {

class Node;

inline constexpr std::size_t max_owner_request_bytes = 4096;

// `node` outlives the call.
Task<Bytes> serve_owner_request(Node& node, Bytes request);

}  // namespace outhaul::node
