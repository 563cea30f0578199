#include "audit/bundle.h"

#include "crypto/digest.h"
#include "outhaul/v1/audit.pb.h"
#include "stream/little_endian.h"

namespace outhaul::audit {
namespace {

constexpr std::string_view magic = "OUTHAULB";
constexpr std::size_t length_end = 12;
constexpr std::size_t front_bytes = length_end + crypto::sha256_bytes;
const std::string bundle_name = "bundle";

std::unexpected<Error> violation(const char* rule) { return fail(ErrorCode::protocol_violation, rule); }

}  // namespace

Bytes serialise_bundle_head(const BundleHead& head) {
  v1::AuditBundle message;
  message.set_log(head.log);
  for (const auto& witness : head.witnesses) {
    auto& added = *message.add_witnesses();
    added.set_evidence(witness.evidence);
    added.set_seen_at_ns(witness.seen_at.nanoseconds);
  }
  message.set_authority(head.authority);
  message.set_front(serialise_file_header(head.front));
  const auto serialised = message.SerializeAsString();
  Bytes bytes(magic);
  stream::append_le(bytes, static_cast<std::uint32_t>(serialised.size()));
  return bytes.append(crypto::sha256(serialised)).append(serialised);
}

Result<std::optional<ParsedBundleHead>> parse_bundle_head(ByteView bytes) {
  if (bytes.size() < length_end) return std::optional<ParsedBundleHead>();
  if (!bytes.starts_with(magic)) return violation("audit bundle: not a file of this kind");
  const auto length = stream::get_le<std::uint32_t>(bytes, magic.size());
  if (length > max_bundle_head_bytes) return violation("audit bundle: its head is too long");
  if (bytes.size() < front_bytes + length) return std::optional<ParsedBundleHead>();
  // What the owner holds of other logs is part of no chain: nothing else would show a change of it.
  if (crypto::sha256(bytes.substr(front_bytes, length)) != bytes.substr(length_end, crypto::sha256_bytes))
    return violation("audit bundle: its front was changed: the heads of other logs, or the CA certificate");
  v1::AuditBundle message;
  if (!message.ParseFromArray(bytes.data() + front_bytes, static_cast<int>(length)))
    return violation("audit bundle: its head is not readable");
  ParsedBundleHead parsed;
  parsed.bytes = front_bytes + length;
  parsed.head.log = message.log();
  parsed.head.authority = message.authority();
  auto front = parse_file_header(message.front());
  if (!front) return violation("audit bundle: the log's own header is not readable");
  parsed.head.front = *std::move(front);
  for (auto& witness : *message.mutable_witnesses()) {
    auto head = head_in_evidence(witness.evidence());
    if (!head) return violation("audit bundle: a kept head is not readable");
    parsed.head.witnesses.push_back(
        {*std::move(head), std::move(*witness.mutable_evidence()), {witness.seen_at_ns()}});
  }
  return std::optional(std::move(parsed));
}

BundleVerifier::BundleVerifier(std::vector<Witnessed> witnessed, std::vector<crypto::TrustedKey> keys)
    : witnessed_(std::move(witnessed)), keys_(std::move(keys)) {}

Result<void> BundleVerifier::feed(ByteView piece) {
  rest_.append(piece);
  if (!verifier_) {
    OUTHAUL_TRY(parsed, parse_bundle_head(rest_));
    if (!parsed) return {};
    head_ = std::move(parsed->head);
    std::erase_if(witnessed_, [this](const Witnessed& one) { return one.head.log != head_.log; });
    verifier_.emplace(ChainVerifier::Config{head_.log, std::move(keys_), std::move(witnessed_)});
    verifier_->begin_after(head_.front, bundle_name);
    read_ = parsed->bytes;
    rest_.erase(0, parsed->bytes);
  }
  const auto taken = verifier_->read_records(bundle_name, read_, rest_);
  rest_.erase(0, taken);
  read_ += taken;
  // Behind a fault nothing is read any more.
  if (!verifier_->report().is_whole()) rest_.clear();
  return {};
}

Result<void> BundleVerifier::finish() {
  if (!verifier_) return violation("audit bundle: not a file of this kind");
  verifier_->finish(rest_.size());
  return {};
}

}  // namespace outhaul::audit
