// Any bytes as an audit record, an entry, a head, a receipt, and as a file and a journal mark. What is read
// obeys every limit and reads the same when it is written again; unsigned bytes prove nothing.
#include <cstddef>
#include <cstdint>

#include "audit/audit_entry.h"
#include "audit/bundle.h"
#include "audit/journal_types.h"
#include "audit/log_reader.h"
#include "audit/receipt_file.h"
#include "audit/verifier.h"
#include "base/assert.h"

using namespace outhaul::audit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const outhaul::ByteView input(reinterpret_cast<const char*>(data), size);
  if (const auto entry = parse_entry(input)) {
    OUTHAUL_ASSERT(entry->fields.size() <= AuditEntry::max_fields);
    OUTHAUL_ASSERT(parse_entry(serialise_entry(*entry)).has_value());
  }
  if (const auto record = parse_record(input)) {
    OUTHAUL_ASSERT(record->size() <= input.size() && record->payload.size() <= max_chain_payload_bytes);
  }
  if (const auto header = parse_file_header(input)) {
    OUTHAUL_ASSERT(serialise_file_header(*header) == input.substr(0, log_file_header_bytes));
  }
  if (const auto mark = parse_journal_mark(input)) OUTHAUL_ASSERT(serialise_journal_mark(*mark) == input);
  OUTHAUL_ASSERT(!open_head(input, {}).has_value());
  static_cast<void>(parse_head(input));
  static_cast<void>(assume_head(input));
  static_cast<void>(open_receipt(input));
  static_cast<void>(assume_receipt(input));
  static_cast<void>(parse_receipt_file(input));
  static_cast<void>(parse_bundle_head(input));
  static_cast<void>(parse_cursor(input));
  ChainVerifier verifier({});
  verifier.read_file(log_file_name(1), input);
  verifier.read_journaled(input);
  verifier.finish(verifier.read_records("bundle", 0, input));
  OUTHAUL_ASSERT(!verifier.report().is_whole() || verifier.report().tip.sequence > 0);
  return 0;
}
