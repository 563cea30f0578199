// The Unix socket between a running node and its owner, in the data directory with mode 0600. Only the node's
// own user and root are heard, by what the kernel says of the peer. One JSON object each way a connection
// (node/owner/owner_requests.h).
#pragma once

#include <filesystem>
#include <functional>

#include "base/async_clock.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"
#include "base/task_group.h"

namespace outhaul {

// The node's end. Nobody who is slow holds up another: a lock has to be heard at once.
class OwnerSocket {
 public:
  using Answer = std::function<Task<Bytes>(Bytes request)>;

  // All outlive it.
  OwnerSocket(Executor executor, AsyncClock& clock, std::filesystem::path data_directory, Answer answer);
  // Until it is cancelled.
  //   errors  unavailable: the socket cannot be made
  Task<Result<void>> serve();
  // Ends what is left of the connections; before destruction, after serve().
  Task<void> close();

 private:
  Task<void> serve_one(int descriptor);

  Executor executor_;
  AsyncClock& clock_;
  std::filesystem::path data_directory_;
  Answer answer_;
  TaskGroup connections_;
};

// The owner's end; blocks for at most some seconds.
//   errors  not_found: no node runs here. unavailable: it does not answer
Result<Bytes> ask_node(const std::filesystem::path& data_directory, ByteView request);

}  // namespace outhaul
