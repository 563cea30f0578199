// Replication: the two ends of one stream over one channel, as pure state. The writer sends optimistically
// from the position it last knew; the reader's Accept says where it really stands; acknowledgements tell
// what the writer may drop. Neither does I/O: the caller owns channel and store.
// Source: docs/protocol.md, "Streams".
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "stream/position.h"
#include "stream/record.h"

namespace outhaul::stream {

// What the writer's store holds of the stream.
struct WriterHoldings {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool complete = false;
  // Span of the record that completes, the last before `end`. It is sent whole or not at all.
  std::uint64_t completing_bytes = 0;
  std::uint64_t output_end() const { return end - completing_bytes; }
};

// The writer's end of one channel. Made anew for each session; what outlives a session is the
// acknowledged position.
class WriterCursor {
 public:
  // `acknowledged`: what the reader is known to hold durably (0 for a new stream).
  explicit WriterCursor(StreamPosition acknowledged) : acknowledged_(acknowledged), next_(acknowledged) {}

  struct Opening {
    std::uint64_t from = 0;
    std::uint64_t dropped_before = 0;
  };
  // The fields of StreamOpen; sending may begin at once, from `from`, within the initial credit.
  Opening open(const WriterHoldings& held);

  enum class Acceptance {
    go_on,     // send what next() says
    adopt,     // the reader holds more than we do: store.adopt_position(position), then go on
    finished,  // the reader holds everything: acknowledge and forget
  };
  // The reader's position from Accept. Fails with protocol_violation when no such position can be (before
  // what it acknowledged is a restored reader and no failure).
  Result<Acceptance> accept(StreamPosition reader, const WriterHoldings& held);

  struct Sending {
    std::uint64_t from = 0;
    std::size_t max_bytes = 0;
  };
  // What to read and send next with this much credit; empty: nothing to send, or no credit.
  std::optional<Sending> next(const WriterHoldings& held, std::size_t credit) const;
  // True after a fault of ours: at no place that the stream has. Nothing can be sent, and nothing be waited
  // for.
  bool is_past(const WriterHoldings& held) const { return next_.offset > held.end; }
  // After sending what read() gave.
  void sent(StreamPosition after) { next_ = after; }
  bool has_sent_everything() const { return next_.complete; }

  // The reader durably holds this. Gives the offset up to which the writer may drop. Fails with
  // protocol_violation for a position past what was sent.
  Result<std::uint64_t> acknowledge(StreamPosition reader, const WriterHoldings& held);
  StreamPosition acknowledged() const { return acknowledged_; }
  StreamPosition position() const { return next_; }

 private:
  StreamPosition acknowledged_;
  StreamPosition next_;
  std::uint64_t opened_from_ = 0;
};

// The reader's end of one channel.
class ReaderCursor {
 public:
  struct Peer {  // from StreamOpen
    Incarnation incarnation;
    std::uint64_t from = 0;
    std::uint64_t dropped_before = 0;
  };
  struct Held {  // from the reader's store
    Incarnation incarnation;
    StreamPosition position;
  };
  struct Opened {
    std::uint64_t gap_bytes = 0;  // > 0: append a gap of this size first, then accept
    StreamPosition position;      // for Accept, after that gap
  };
  // Fails with conflict for another incarnation, protocol_violation for a `from` before `dropped_before`.
  static Result<std::pair<ReaderCursor, Opened>> open(const Peer& peer, const Held& held);

  enum class Verdict {
    append,       // whole, in order
    append_tail,  // its first part is known: append from position() on
    // Known already, or sent before the writer saw our position: also a completing record that begins before
    // it, for the writer has lost what we hold and will move that record.
    ignore,
  };
  // Judges the next record of the channel and moves on. Fails with stream_gap when bytes are missing
  // before it and protocol_violation for one after the completing record.
  Result<Verdict> offer(const RecordHeader& header, std::uint64_t span);
  StreamPosition position() const { return position_; }

 private:
  ReaderCursor(StreamPosition position, bool awaits_rewind)
      : position_(position), awaits_rewind_(awaits_rewind) {}
  StreamPosition position_;
  bool awaits_rewind_;  // the writer began past our position: what is ahead is not lost, it will come again
};

}  // namespace outhaul::stream
