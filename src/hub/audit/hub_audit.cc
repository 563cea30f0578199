#include "hub/audit/hub_audit.h"

namespace outhaul::hub {
namespace {

audit::DurableLog::Config log_config(const HubSettings& settings, const HubKeys& keys) {
  audit::DurableLog::Config config;
  config.log = audit::hub_log_name(settings.deployment);
  config.signer = {audit::key_id_of(keys.signing_key.public_key()), &keys.signing_key};
  config.keep_bytes = settings.audit_bytes;
  config.file_bytes = settings.files.audit_file_bytes;
  config.remembers_recovered = true;
  return config;
}

}  // namespace

HubAudit::HubAudit(const HubPorts& ports, const HubSettings& settings, const HubKeys& keys)
    : clock_(ports.clock),
      process_log_(ports.log),
      keys_(keys),
      log_({ports.executor, ports.clock, ports.random, ports.disk, ports.log}, log_config(settings, keys)),
      heads_(log_, witnesses_, ports.clock, ports.log) {}

Task<Result<void>> HubAudit::open(stream::Journal& journal, std::uint64_t epoch) {
  log_.set_epoch(epoch);
  heads_.bind(journal);
  return log_.open(journal);
}

Task<Result<void>> HubAudit::write(audit::AuditEntry entry) {
  OUTHAUL_CO_CHECK(log_.append(std::move(entry)));
  co_return co_await log_.durable();
}

Result<HubAudit::KnownSigner*> HubAudit::signer_of(const NodeId& node, ByteView signing_key) {
  const auto known = signers_.find(node);
  if (known != signers_.end() && known->second.public_key == signing_key) return &known->second;
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(signing_key));
  KnownSigner signer{Bytes(signing_key), std::move(key), {}};
  return &signers_.insert_or_assign(node, std::move(signer)).first->second;
}

Result<audit::Receipt> HubAudit::open_receipt(const Bytes& envelope, const NodeId& node,
                                              ByteView signing_key) {
  const crypto::Certificate authorities[] = {keys_.authority.certificate()};
  if (signing_key.empty()) {
    OUTHAUL_TRY(receipt, audit::open_receipt(envelope));
    OUTHAUL_CHECK(audit::verify_receipt_signer(receipt, authorities));
    return std::move(receipt);
  }
  OUTHAUL_TRY(signer, signer_of(node, signing_key));
  OUTHAUL_TRY(receipt, audit::open_receipt(envelope, signer->key));
  if (receipt.certificate == signer->certificate) return std::move(receipt);
  OUTHAUL_CHECK(audit::open_receipt(envelope));
  OUTHAUL_CHECK(audit::verify_receipt_signer(receipt, authorities));
  signer->certificate = receipt.certificate;
  return std::move(receipt);
}

Result<void> HubAudit::take_receipt(const wire::TaskResult& result, const NodeId& node,
                                    ByteView signing_key) {
  if (result.receipt.empty()) return {};
  OUTHAUL_TRY(receipt, open_receipt(result.receipt, node, signing_key));
  if (receipt.node != node) return fail(ErrorCode::certificate_invalid, "receipt: of another node");
  OUTHAUL_CHECK(audit::match_result(receipt, result));
  heads_.take_receipt(receipt, result.receipt);
  return {};
}

}  // namespace outhaul::hub
