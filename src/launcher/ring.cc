#include "launcher/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace outhaul::launcher {
namespace {

constexpr std::size_t header_bytes = 4096;
// A read of fewer bytes than this is not worth its system call while a reader is busy making room.
constexpr std::size_t min_reserve_bytes = 4096;

constexpr std::uint64_t record_bytes(std::size_t length) { return (sizeof(RingRecord) + length + 7) / 8 * 8; }

void* map_shared(void* at, std::size_t bytes, int descriptor, off_t from) {
  const int flags = at == nullptr ? MAP_SHARED : MAP_SHARED | MAP_FIXED;
  return mmap(at, bytes, PROT_READ | PROT_WRITE, flags, descriptor, from);
}

}  // namespace

RingMap::RingMap(RingMap&& other) noexcept
    : header_(std::exchange(other.header_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}

RingMap& RingMap::operator=(RingMap&& other) noexcept {
  std::swap(header_, other.header_);
  std::swap(data_, other.data_);
  return *this;
}

RingMap::~RingMap() { unmap(); }

void RingMap::unmap() {
  if (header_ != nullptr) munmap(header_, header_bytes + 2 * ring_data_bytes);
}

int RingMap::make() {
  const int descriptor = memfd_create("outhaul-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  // Sealed: a shorter file would turn every access to the mapping into SIGBUS.
  if (ftruncate(descriptor, header_bytes + ring_data_bytes) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

RingMap RingMap::map(int descriptor) {
  const std::size_t whole = header_bytes + 2 * ring_data_bytes;
  void* base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return {};
  RingMap ring;
  ring.header_ = static_cast<RingHeader*>(base);
  ring.data_ = static_cast<char*>(base) + header_bytes;
  if (map_shared(base, header_bytes + ring_data_bytes, descriptor, 0) == MAP_FAILED ||
      map_shared(ring.data_ + ring_data_bytes, ring_data_bytes, descriptor, header_bytes) == MAP_FAILED) {
    return {};
  }
  return ring;
}

std::size_t RingWriter::reserve() {
  const RingHeader& header = ring_.header();
  const auto free_bytes = [&header] {
    return ring_data_bytes - (header.produced.load(std::memory_order_relaxed) - header.consumed.load());
  };
  if (free_bytes() < sizeof(RingRecord) + min_reserve_bytes) {
    // Set, then look again: the reader looks at the flag after it has given its bytes back.
    ring_.header().writer_waits.store(1);
    if (free_bytes() < sizeof(RingRecord) + min_reserve_bytes) return 0;
    ring_.header().writer_waits.store(0);
  }
  const std::size_t room = (free_bytes() - sizeof(RingRecord)) / 8 * 8;
  return room < max_chunk_bytes ? room : max_chunk_bytes;
}

char* RingWriter::room() const {
  return ring_.data(ring_.header().produced.load(std::memory_order_relaxed)) + sizeof(RingRecord);
}

bool RingWriter::commit(OutputKind kind, std::size_t length, std::uint64_t offset, std::int64_t time_ns) {
  RingHeader& header = ring_.header();
  const std::uint64_t position = header.produced.load(std::memory_order_relaxed);
  new (ring_.data(position)) RingRecord{kind, static_cast<std::uint32_t>(length), offset, time_ns};
  header.produced.store(position + record_bytes(length));
  return header.reader_waits.load() != 0 && header.reader_waits.exchange(0) != 0;
}

bool RingWriter::is_empty() const {
  return ring_.header().produced.load(std::memory_order_relaxed) == ring_.header().consumed.load();
}

const RingRecord* RingReader::peek_at(std::size_t index) {
  const RingHeader& header = ring_.header();
  std::uint64_t position = header.consumed.load(std::memory_order_relaxed);
  std::uint64_t filled = header.produced.load() - position;
  for (;; --index) {
    if (filled == 0 || damaged_) return nullptr;
    const auto* record = reinterpret_cast<const RingRecord*>(ring_.data(position));
    damaged_ = filled > ring_data_bytes || filled < sizeof(RingRecord) || record->length == 0 ||
               record->length > max_chunk_bytes || record_bytes(record->length) > filled;
    if (damaged_) return nullptr;
    if (index == 0) return record;
    position += record_bytes(record->length);
    filled -= record_bytes(record->length);
  }
}

bool RingReader::consume() {
  const RingRecord* record = peek();
  if (record == nullptr) return false;
  RingHeader& header = ring_.header();
  header.consumed.store(header.consumed.load(std::memory_order_relaxed) + record_bytes(record->length));
  // Half empty, not one record: a writer woken for every record would read in small pieces.
  const bool half_empty =
      header.produced.load() - header.consumed.load(std::memory_order_relaxed) <= ring_data_bytes / 2;
  return half_empty && header.writer_waits.load() != 0 && header.writer_waits.exchange(0) != 0;
}

bool RingReader::ask_for_notice() {
  RingHeader& header = ring_.header();
  header.reader_waits.store(1);
  if (header.produced.load() == header.consumed.load(std::memory_order_relaxed)) return true;
  header.reader_waits.store(0);
  return false;
}

}  // namespace outhaul::launcher
