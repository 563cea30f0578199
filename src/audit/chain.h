// The bytes of an audit log, as pure functions: files of records, each of which carries the hash of itself
// and of everything before it.
//
//   file, 64 bytes:    8 "OUTHAULA"   u32 version   u32 0   u64 sequence of its first record   8 incarnation
//                      32 hash of the record before that
//   record, 16 bytes:  u16 magic 0x4f41   u8 kind   u8 0   u32 length   u64 sequence
//                      then the payload, then 32 bytes: SHA-256 over the domain, the hash before, header and
//                      payload
//
// All integers are little-endian. Sequences count records from 1 and leave none out; the hash before the
// first is 32 zero bytes. So a change, a removal, an insertion or another order breaks at the first record
// concerned. Only the tail can be cut unseen; what sees that are signed heads in other hands
// (witness_book.h). Source: docs/protocol.md, "Audit".
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace outhaul::audit {

inline constexpr std::size_t chain_hash_bytes = 32;
inline constexpr std::size_t chain_header_bytes = 16;
inline constexpr std::size_t max_chain_payload_bytes = 64U << 10U;
inline constexpr std::size_t max_chain_record_bytes =
    chain_header_bytes + max_chain_payload_bytes + chain_hash_bytes;
inline constexpr std::size_t log_file_header_bytes = 64;
inline constexpr std::size_t log_incarnation_bytes = 8;

// Where a chain stands after a record: all that the next one needs.
struct ChainTip {
  std::uint64_t sequence = 0;
  Bytes hash = Bytes(chain_hash_bytes, '\0');
  bool operator==(const ChainTip&) const = default;
};

enum class ChainKind : std::uint8_t {
  start = 1,       // v1::AuditStart; the first record and no other
  entry = 2,       // v1::AuditEntry
  checkpoint = 3,  // an envelope over v1::AuditHead of the record before
};

// The record that follows `tip`; `tip` moves on to it. At most max_chain_payload_bytes.
Bytes append_record(ChainTip& tip, ChainKind kind, ByteView payload);

// A record at the front of some bytes, into which it points.
struct ChainRecord {
  ChainKind kind = ChainKind::entry;
  std::uint64_t sequence = 0;
  ByteView payload;
  ByteView hash;
  std::size_t size() const { return chain_header_bytes + payload.size() + chain_hash_bytes; }
  ChainTip tip() const { return {sequence, Bytes(hash)}; }
};
struct ChainFault {
  const char* what;
  bool is_short = false;  // the bytes end before the record does
};

// The record at the front, whatever stands before it: its form, but not its hash.
std::expected<ChainRecord, ChainFault> parse_record(ByteView bytes);
// The record at the front that follows `before`, its hash included.
std::expected<ChainRecord, ChainFault> verify_record(ByteView bytes, const ChainTip& before);

struct LogFileHeader {
  Bytes incarnation;  // log_incarnation_bytes
  ChainTip before;    // of the record before its first one
};
Bytes serialise_file_header(const LogFileHeader& header);
// Empty for anything else, a later version included.
std::optional<LogFileHeader> parse_file_header(ByteView bytes);

// "audit-00000000000000000001": by the sequence of the first record.
std::string log_file_name(std::uint64_t first_sequence);
bool is_log_file_name(std::string_view name);

}  // namespace outhaul::audit
