// BodyReader: the body of one message, piece by piece, decoded from its framing. A slow reader slows only
// its own peer: nothing is read ahead beyond one buffer.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::http {

class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The next piece, 1..256 KiB, valid until the next call; empty at the end of the body.
  //   errors  unavailable: the peer left in the middle. too_large: the limit of this body is passed.
  //           protocol_violation: bad chunk. After an error the connection is of no further use.
  virtual Task<Result<ByteView>> read_some() = 0;
  // The rest of the body. too_large when it is longer than `max_bytes`.
  Task<Result<Bytes>> read_all(std::size_t max_bytes);
};

}  // namespace outhaul::http
