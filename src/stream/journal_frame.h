// The bytes of a journal file, as pure functions: a header, then frames.
//
//   header, 32 bytes:  8 "OUTHAULJ"   u32 version   u32 0   u64 generation   u32 CRC-32C of 0..23   u32 0
//   frame, 24 bytes:   u16 magic 0x4f4a   u8 type   u8 0   u32 length   u64 synced   u32 CRC-32C   u32 0
//                      then the payload
//
// `synced`: how much of the file was known to be durable when the frame was appended. A frame that is
// bad although a later one names it as durable is damage, not the torn end of a lost write.
// The checksum starts from the generation and the frame's place, so that a frame inside a payload (a
// task may print a journal) is not taken for one of this file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::stream {

inline constexpr std::size_t journal_header_bytes = 32;
inline constexpr std::size_t journal_frame_bytes = 24;
inline constexpr std::size_t max_journal_payload_bytes = 1U << 20U;
inline constexpr std::uint8_t checkpoint_mark_type = 0;

Bytes journal_header(std::uint64_t generation);

// Where a frame stands: what its checksum is bound to.
struct FramePlace {
  std::uint64_t generation = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t synced = 0;
};
// The 24 bytes that go before `parts`, whose sum is at most max_journal_payload_bytes.
struct FrameHeader {
  char bytes[journal_frame_bytes];
  ByteView view() const { return {bytes, sizeof bytes}; }
};
FrameHeader make_frame_header(const FramePlace& place, std::uint8_t type, std::span<const ByteView> parts);

struct JournalFrame {
  std::uint8_t type = 0;
  ByteView payload;
};

struct JournalContents {
  std::vector<JournalFrame> frames;  // whole ones, without the checkpoint's mark; they point into the file
  bool checkpoint_is_whole = false;  // false: this file counts for nothing
  std::uint64_t whole_bytes = 0;     // the file's length without a torn end and without zeros kept ahead
  std::string cut_reason;            // empty: nothing is torn
};

// Reads a whole file; `generation` is the one in its name. A torn end is no failure, nor a torn header.
// Fails with journal_corrupt (details: offset) for damage before the end, data_format_newer for a later
// version.
Result<JournalContents> parse_journal(ByteView file, std::uint64_t generation);

}  // namespace outhaul::stream
