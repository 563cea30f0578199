// The ring that carries a task's output from the launcher to the node: shared memory (a memfd) that
// survives both a killed node and, for as long as the node maps it, a killed launcher. The writer reads a
// pipe straight into it; the reader gives a byte back only when it has written it down elsewhere.
//
// Layout: one header page, then ring_data_bytes mapped twice in a row, so that no record ever wraps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace outhaul::launcher {

inline constexpr std::size_t ring_data_bytes = 256 * 1024;
inline constexpr std::size_t max_chunk_bytes = 64 * 1024;

enum class OutputKind : std::uint32_t { out = 1, err = 2 };

struct RingHeader {
  alignas(64) std::atomic<std::uint64_t> produced;      // bytes of records, ever; written by the launcher
  alignas(64) std::atomic<std::uint64_t> consumed;      // the same; written by the node
  alignas(64) std::atomic<std::uint32_t> reader_waits;  // the node saw it empty and wants a snapshot
  std::atomic<std::uint32_t> writer_waits;              // the launcher saw it full and wants `room`
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Before each chunk; the next record starts at a multiple of 8 bytes.
struct RingRecord {
  OutputKind kind;
  std::uint32_t length;  // 1..max_chunk_bytes
  std::uint64_t offset;  // payload bytes of all earlier records of this ring
  std::int64_t time_ns;  // wall time at which it was read from the pipe
};

// A mapped ring. Move-only; unmaps in its destructor and leaves the descriptor alone.
class RingMap {
 public:
  RingMap() = default;
  RingMap(RingMap&& other) noexcept;
  RingMap& operator=(RingMap&& other) noexcept;
  RingMap(const RingMap&) = delete;
  RingMap& operator=(const RingMap&) = delete;
  ~RingMap();

  // A new sealed memfd of the right size, close-on-exec; -1 and errno when the system has none.
  static int make();
  // Not is_open() afterwards, with errno, when it fails.
  static RingMap map(int descriptor);
  bool is_open() const { return header_ != nullptr; }
  RingHeader& header() const { return *header_; }
  char* data(std::uint64_t position) const { return data_ + position % ring_data_bytes; }

 private:
  void unmap();
  RingHeader* header_ = nullptr;
  char* data_ = nullptr;
};

// The launcher's end.
class RingWriter {
 public:
  explicit RingWriter(RingMap& ring) : ring_(ring) {}
  // How many bytes room() may take now, at most max_chunk_bytes; 0 when there is too little to be worth
  // a read: then writer_waits is set and the reader will say `room`.
  std::size_t reserve();
  char* room() const;
  // Publishes `length` bytes written at room(). True when the reader wants to hear of it.
  bool commit(OutputKind kind, std::size_t length, std::uint64_t offset, std::int64_t time_ns);
  bool is_empty() const;

 private:
  RingMap& ring_;
};

// The node's end.
class RingReader {
 public:
  explicit RingReader(RingMap& ring) : ring_(ring) {}
  // The oldest record, its bytes after it; null when empty. A record that no honest writer makes counts
  // as the end: null, and is_damaged().
  const RingRecord* peek() { return peek_at(0); }
  // The one that is `index` places behind the oldest.
  const RingRecord* peek_at(std::size_t index);
  static const char* bytes(const RingRecord& record) { return reinterpret_cast<const char*>(&record + 1); }
  // Gives the oldest record back. True when the writer waits and must be sent `room`.
  bool consume();
  // Asks for a snapshot at the next record. False when one is there already: look again.
  bool ask_for_notice();
  bool is_damaged() const { return damaged_; }

 private:
  RingMap& ring_;
  bool damaged_ = false;
};

}  // namespace outhaul::launcher
