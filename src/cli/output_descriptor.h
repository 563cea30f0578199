// OutputDescriptor: standard output or error, written without holding up the strand, so that Ctrl-C is heard
// while the reader is slow. The mode of what we were given is never changed: others hold it too.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "cli/readiness.h"

namespace outhaul::cli {

class OutputDescriptor {
 public:
  // `descriptor` stays the caller's and outlives this.
  OutputDescriptor(const Executor& executor, int descriptor);
  ~OutputDescriptor();
  OutputDescriptor(const OutputDescriptor&) = delete;
  OutputDescriptor& operator=(const OutputDescriptor&) = delete;

  // Suspends while the reader is slow: that is the back-pressure. `bytes` stay until it completes.
  //   errors  cancelled: nobody reads any more. internal: it cannot be written (full, closed)
  Task<Result<void>> write_all(ByteView bytes);

 private:
  enum class Way {
    plain,      // a file or a device: never waits for a reader
    own,        // a pipe or terminal, opened again for ourselves as non-blocking
    socket,     // sent without waiting
    by_pieces,  // a pipe that cannot be opened again: no more than surely fits after a wait
  };
  long write_some(ByteView bytes) const;
  Way way_ = Way::plain;
  int descriptor_;
  Readiness room_;
};

}  // namespace outhaul::cli
