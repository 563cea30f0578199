#include "stream/journal_frame.h"

#include <algorithm>
#include <optional>
#include <span>

#include "stream/crc32c.h"
#include "stream/little_endian.h"
#include "stream/record_scan.h"

namespace outhaul::stream {
namespace {

constexpr std::string_view file_magic = "OUTHAULJ";
constexpr std::size_t version_at = 8;
constexpr std::size_t generation_at = 16;
constexpr std::size_t header_crc_at = 24;
constexpr std::size_t header_reserved_at = 28;
constexpr std::uint32_t format_version = 1;
constexpr std::uint16_t frame_magic = 0x4f4a;
constexpr std::size_t type_at = 2;
constexpr std::size_t flags_at = 3;
constexpr std::size_t length_at = 4;
constexpr std::size_t synced_at = 8;
constexpr std::size_t crc_at = 16;
constexpr std::size_t reserved_at = 20;
// What a search for later frames may checksum: a payload full of false frame headers must not make a
// start take minutes.
constexpr std::uint64_t max_search_bytes = 256U << 20U;

std::uint32_t checksum_of(const FramePlace& place, const char* header, std::span<const ByteView> parts) {
  char binding[16];
  put_le(binding, place.generation);
  put_le(binding + 8, place.offset);
  std::uint32_t crc = crc32c(ByteView(header, crc_at), crc32c(ByteView(binding, sizeof binding)));
  for (const auto part : parts) crc = crc32c(part, crc);
  return crc;
}

struct FoundFrame {
  JournalFrame frame;
  std::uint64_t synced = 0;
  std::size_t size() const { return journal_frame_bytes + frame.payload.size(); }
};

struct FrameFault {
  const char* reason;
};

// The frame at `offset`; the reason when there is no whole one.
std::expected<FoundFrame, FrameFault> frame_at(ByteView file, std::uint64_t generation,
                                               std::uint64_t offset) {
  const auto fault = [](const char* reason) { return std::unexpected(FrameFault{reason}); };
  const ByteView rest = file.substr(offset);
  if (rest.size() < journal_frame_bytes) return fault("cut in a frame's header");
  const char* at = rest.data();
  if (get_le<std::uint16_t>(at) != frame_magic) return fault("no frame where one should start");
  if (at[flags_at] != 0 || get_le<std::uint32_t>(at + reserved_at) != 0)
    return fault("unknown flags in a frame");
  const auto length = get_le<std::uint32_t>(at + length_at);
  if (length > max_journal_payload_bytes) return fault("frame longer than the limit");
  if (rest.size() - journal_frame_bytes < length) return fault("cut in a frame's payload");
  const ByteView payload = rest.substr(journal_frame_bytes, length);
  const FramePlace place{.generation = generation, .offset = offset, .synced = 0};
  if (checksum_of(place, at, {&payload, 1}) != get_le<std::uint32_t>(at + crc_at))
    return fault("checksum does not match");
  const JournalFrame frame{.type = static_cast<std::uint8_t>(at[type_at]), .payload = payload};
  return FoundFrame{.frame = frame, .synced = get_le<std::uint64_t>(at + synced_at)};
}

// The place of the first whole frame after the bad one at `bad`.
std::optional<std::uint64_t> find_later_frame(ByteView file, std::uint64_t generation, std::uint64_t bad) {
  char magic[2];
  put_le(magic, frame_magic);
  std::uint64_t searched = 0;
  for (auto at = file.find(ByteView(magic, 2), bad + 1); at != file.npos;
       at = file.find(ByteView(magic, 2), at + 1)) {
    if (frame_at(file, generation, at)) return at;
    if (file.size() - at < journal_frame_bytes) return std::nullopt;
    searched +=
        std::min<std::uint64_t>(get_le<std::uint32_t>(file, at + length_at), max_journal_payload_bytes);
    if (searched > max_search_bytes) return std::nullopt;
  }
  return std::nullopt;
}

// Whether some whole frame from `at` on says that the file was durable past `bad`.
bool is_named_durable(ByteView file, std::uint64_t generation, std::uint64_t at, std::uint64_t bad) {
  while (at < file.size()) {
    const auto found = frame_at(file, generation, at);
    if (!found) return false;
    if (found->synced > bad) return true;
    at += found->size();
  }
  return false;
}

bool is_damage(ByteView file, std::uint64_t generation, std::uint64_t bad) {
  const auto later = find_later_frame(file, generation, bad);
  if (!later) return false;
  return !has_zero_sector(file, bad, *later) || is_named_durable(file, generation, *later, bad);
}

std::unexpected<Error> corrupt(const char* reason, std::uint64_t offset) {
  return fail(Error(ErrorCode::journal_corrupt, std::string(reason) + " at offset " + std::to_string(offset))
                  .with("offset", std::to_string(offset)));
}

bool is_header(ByteView bytes, std::uint64_t generation) {
  return bytes.size() >= journal_header_bytes && bytes.starts_with(file_magic) &&
         get_le<std::uint32_t>(bytes, header_crc_at) == crc32c(bytes.substr(0, header_crc_at)) &&
         get_le<std::uint64_t>(bytes, generation_at) == generation &&
         get_le<std::uint32_t>(bytes, header_reserved_at) == 0;
}

}  // namespace

Bytes journal_header(std::uint64_t generation) {
  Bytes header(file_magic);
  append_le(header, format_version);
  append_le(header, std::uint32_t{0});
  append_le(header, generation);
  append_le(header, crc32c(header));
  append_le(header, std::uint32_t{0});
  return header;
}

FrameHeader make_frame_header(const FramePlace& place, std::uint8_t type, std::span<const ByteView> parts) {
  std::size_t length = 0;
  for (const auto part : parts) length += part.size();
  FrameHeader header{};
  put_le(header.bytes, frame_magic);
  put_le(header.bytes + type_at, type);
  put_le(header.bytes + length_at, static_cast<std::uint32_t>(length));
  put_le(header.bytes + synced_at, place.synced);
  put_le(header.bytes + crc_at, checksum_of(place, header.bytes, parts));
  return header;
}

Result<JournalContents> parse_journal(ByteView file, std::uint64_t generation) {
  JournalContents contents;
  if (!is_header(file, generation)) {
    if (is_damage(file, generation, 0)) return corrupt("the file's header is bad", 0);
    contents.cut_reason = "the file's header is not whole";
    return contents;
  }
  if (get_le<std::uint32_t>(file, version_at) > format_version) {
    return fail(ErrorCode::data_format_newer, "the journal was written by a newer version");
  }
  std::uint64_t at = journal_header_bytes;
  while (at < file.size()) {
    const auto found = frame_at(file, generation, at);
    if (!found) {
      // Room that was kept ahead, or a last write that never reached the disk.
      if (file.find_first_not_of('\0', at) == file.npos) break;
      if (is_damage(file, generation, at)) return corrupt(found.error().reason, at);
      contents.cut_reason = found.error().reason;
      break;
    }
    if (found->frame.type == checkpoint_mark_type) {
      contents.checkpoint_is_whole = true;
    } else {
      contents.frames.push_back(found->frame);
    }
    at += found->size();
  }
  contents.whole_bytes = at;
  return contents;
}

}  // namespace outhaul::stream
