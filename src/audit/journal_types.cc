#include "audit/journal_types.h"

#include "crypto/signing_key.h"
#include "stream/little_endian.h"

namespace outhaul::audit {

namespace {

constexpr std::size_t hash_at = 16;
constexpr std::size_t key_at = hash_at + chain_hash_bytes;
constexpr std::size_t mark_bytes = key_at + crypto::ed25519_public_bytes;

}  // namespace

Bytes serialise_journal_mark(const JournalMark& mark) {
  Bytes bytes;
  stream::append_le(bytes, mark.tip.sequence);
  stream::append_le(bytes, mark.epoch);
  return bytes.append(mark.tip.hash).append(mark.public_key);
}

std::optional<JournalMark> parse_journal_mark(ByteView bytes) {
  if (bytes.size() != mark_bytes) return std::nullopt;
  JournalMark mark;
  mark.tip = {stream::get_le<std::uint64_t>(bytes, 0), Bytes(bytes.substr(hash_at, chain_hash_bytes))};
  mark.epoch = stream::get_le<std::uint64_t>(bytes, 8);
  mark.public_key = bytes.substr(key_at);
  return mark;
}

}  // namespace outhaul::audit
