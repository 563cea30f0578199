#include "node/tasks/receipt_writer.h"

#include "audit/receipt.h"
#include "crypto/digest.h"

namespace outhaul::node {

ReceiptWriter::ReceiptWriter(NodeId self, const wire::HelloSigner& signer, const audit::DurableLog& log)
    : self_(std::move(self)),
      signer_(signer),
      log_(log),
      key_id_(audit::key_id_of(signer.signing_key().public_key())) {}

Bytes ReceiptWriter::write(const TaskEntry& entry, const wire::TaskResult& result) const {
#ifdef OUTHAUL_WITHOUT_AUDIT
  static_cast<void>(entry);
  static_cast<void>(result);
  return {};
#else
  audit::Receipt receipt;
  receipt.task = result.task_id;
  receipt.node = self_;
  receipt.owner = entry.spec.owner;
  receipt.task_sha256 = crypto::sha256(entry.envelope);
  receipt.isolation = result.isolation;
  receipt.executable = entry.execution.executable;
  receipt.executable_sha256 = entry.execution.sha256;
  receipt.end = std::string(wire::state_of(result.end));
  if (const auto* exited = std::get_if<wire::Exited>(&result.end)) receipt.exit_code = exited->code;
  if (const auto* signalled = std::get_if<wire::Signalled>(&result.end)) receipt.signal = signalled->signal;
  if (const auto* failed = std::get_if<wire::Failed>(&result.end))
    receipt.error_code = std::string(name_of(failed->code));
  receipt.accepted_at = entry.execution.accepted_at;
  receipt.started_at = result.started_at;
  receipt.ended_at = result.ended_at;
  receipt.streams = {{"stdout", result.out}, {"stderr", result.err}};
  receipt.bytes_left_out = result.bytes_left_out;
  if (auto head = log_.durable_head(); head.tip.sequence > 0) receipt.audit_head = std::move(head);
  receipt.certificate = signer_.signing_certificate();
  return audit::sign_receipt(receipt, {key_id_, &signer_.signing_key()});
#endif
}

}  // namespace outhaul::node
