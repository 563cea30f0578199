#include "audit/chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "crypto/digest.h"
#include "stream/little_endian.h"

namespace outhaul::audit {
namespace {

constexpr std::string_view hash_domain = "outhaul audit v1";
constexpr std::string_view file_magic = "OUTHAULA";
constexpr std::uint32_t format_version = 1;
constexpr std::size_t version_at = 8;
constexpr std::size_t reserved_at = 12;
constexpr std::size_t first_sequence_at = 16;
constexpr std::size_t incarnation_at = 24;
constexpr std::size_t hash_at = 32;
constexpr std::uint16_t record_magic = 0x4f41;
constexpr std::size_t kind_at = 2;
constexpr std::size_t flags_at = 3;
constexpr std::size_t length_at = 4;
constexpr std::size_t sequence_at = 8;
constexpr std::string_view name_prefix = "audit-";
constexpr std::size_t name_digits = 20;

// Domain and hash before have one length, so record bytes cannot be moved between them.
Bytes hash_of(const Bytes& before, ByteView header_and_payload) {
  Bytes covered;
  covered.reserve(hash_domain.size() + before.size() + header_and_payload.size());
  covered.append(hash_domain).append(before).append(header_and_payload);
  return crypto::sha256(covered);
}

bool is_known(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(ChainKind::start) &&
         kind <= static_cast<std::uint8_t>(ChainKind::checkpoint);
}

}  // namespace

Bytes append_record(ChainTip& tip, ChainKind kind, ByteView payload) {
  OUTHAUL_ASSERT(payload.size() <= max_chain_payload_bytes);
  Bytes record;
  record.reserve(chain_header_bytes + payload.size() + chain_hash_bytes);
  stream::append_le(record, record_magic);
  stream::append_le(record, static_cast<std::uint8_t>(kind));
  stream::append_le(record, std::uint8_t{0});
  stream::append_le(record, static_cast<std::uint32_t>(payload.size()));
  stream::append_le(record, tip.sequence + 1);
  record.append(payload);
  tip.hash = hash_of(tip.hash, record);
  ++tip.sequence;
  return record.append(tip.hash);
}

std::expected<ChainRecord, ChainFault> parse_record(ByteView bytes) {
  if (bytes.size() < chain_header_bytes) return std::unexpected(ChainFault{"cut in a record's header", true});
  if (stream::get_le<std::uint16_t>(bytes, 0) != record_magic)
    return std::unexpected(ChainFault{"no record where one should start"});
  const auto kind = stream::get_le<std::uint8_t>(bytes, kind_at);
  if (!is_known(kind)) return std::unexpected(ChainFault{"a record of unknown kind"});
  if (bytes[flags_at] != 0) return std::unexpected(ChainFault{"unknown flags in a record"});
  const auto length = stream::get_le<std::uint32_t>(bytes, length_at);
  if (length > max_chain_payload_bytes) return std::unexpected(ChainFault{"a record longer than the limit"});
  ChainRecord record;
  record.kind = static_cast<ChainKind>(kind);
  record.sequence = stream::get_le<std::uint64_t>(bytes, sequence_at);
  if (bytes.size() < chain_header_bytes + length + chain_hash_bytes)
    return std::unexpected(ChainFault{"cut inside a record", true});
  record.payload = bytes.substr(chain_header_bytes, length);
  record.hash = bytes.substr(chain_header_bytes + length, chain_hash_bytes);
  return record;
}

std::expected<ChainRecord, ChainFault> verify_record(ByteView bytes, const ChainTip& before) {
  const auto record = parse_record(bytes);
  if (!record) return record;
  if (record->sequence != before.sequence + 1)
    return std::unexpected(ChainFault{"the sequence does not go on here"});
  const auto covered = bytes.substr(0, chain_header_bytes + record->payload.size());
  if (record->hash != hash_of(before.hash, covered))
    return std::unexpected(ChainFault{"the hash does not match the record and those before it"});
  return record;
}

Bytes serialise_file_header(const LogFileHeader& header) {
  OUTHAUL_ASSERT(header.incarnation.size() == log_incarnation_bytes);
  Bytes bytes(file_magic);
  stream::append_le(bytes, format_version);
  stream::append_le(bytes, std::uint32_t{0});
  stream::append_le(bytes, header.before.sequence + 1);
  return bytes.append(header.incarnation).append(header.before.hash);
}

std::optional<LogFileHeader> parse_file_header(ByteView bytes) {
  if (bytes.size() < log_file_header_bytes || !bytes.starts_with(file_magic)) return std::nullopt;
  if (stream::get_le<std::uint32_t>(bytes, version_at) != format_version) return std::nullopt;
  if (stream::get_le<std::uint32_t>(bytes, reserved_at) != 0) return std::nullopt;
  const auto first = stream::get_le<std::uint64_t>(bytes, first_sequence_at);
  if (first == 0) return std::nullopt;
  LogFileHeader header;
  header.incarnation = bytes.substr(incarnation_at, log_incarnation_bytes);
  header.before = {first - 1, Bytes(bytes.substr(hash_at, chain_hash_bytes))};
  return header;
}

std::string log_file_name(std::uint64_t first_sequence) {
  return fmt::format("{}{:020}", name_prefix, first_sequence);
}

bool is_log_file_name(std::string_view name) {
  if (name.size() != name_prefix.size() + name_digits || !name.starts_with(name_prefix)) return false;
  return name.find_first_not_of("0123456789", name_prefix.size()) == name.npos;
}

}  // namespace outhaul::audit
