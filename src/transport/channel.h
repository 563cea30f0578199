// Channel: one conversation inside a tunnel, as its owner holds it. It may outlive the tunnel: every call
// then fails with session_lost. Runs on the tunnel's strand.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shared_slice.h"
#include "base/task.h"
#include "outhaul/v1/session.pb.h"
#include "wire/target.h"

namespace outhaul::transport {

struct ChannelState;  // tunnel_core.h

class Channel {
 public:
  explicit Channel(std::shared_ptr<ChannelState> state) : state_(std::move(state)) {}
  Channel(Channel&&) noexcept = default;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  // Resets what was not ended with `cancelled`.
  ~Channel();

  // The peer's answer to open(); again after that, the same answer. A refusal is the Error.
  Task<Result<v1::Accept>> accepted();
  // Queues `bytes` (any size; boundaries are not kept) as soon as less than 256 KiB wait. Before the answer
  // to open() at most 16 KiB leave. One caller at a time.
  //   errors  the refusal, the peer's reset code, session_lost
  Task<Result<void>> send(Bytes bytes);
  // The same for bytes that others hold too: nothing is copied until they leave.
  Task<Result<void>> send(std::vector<SharedSlice> slices);
  // The same without waiting: false when there is no room now, and nothing was taken.
  Result<bool> try_send(Bytes& bytes);
  // Bytes in order, at most 64 KiB at once; empty optional when the peer has finished. Taking them returns
  // credit, so whoever stops calling stops the peer. One caller at a time. Errors as send().
  Task<Result<std::optional<Bytes>>> receive();
  // What receive() would give at once; empty when it would wait, fail, or tell of the end.
  std::optional<Bytes> try_receive();
  // This direction ends after what is queued. Nothing may be sent any more.
  void finish();
  // Both directions end now.
  void reset(ErrorCode code);
  // False when it was refused, reset, or its session ended.
  bool is_live() const;

 private:
  // Shared with the tunnel, which reports events to it while the owner waits here; either may end first.
  std::shared_ptr<ChannelState> state_;
};

}  // namespace outhaul::transport
