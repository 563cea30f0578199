// HubAudit: the hub's audit log and what it keeps of its nodes' logs, opened and closed together.
//   runs on  the hub's strand
#pragma once

#include <map>
#include <vector>

#include "audit/head_exchange.h"
#include "audit/refusal_budget.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"

namespace outhaul::hub {

class HubAudit {
 public:
  HubAudit(const HubPorts& ports, const HubSettings& settings, const HubKeys& keys);

  // For the journal, before it is opened.
  std::vector<stream::JournalOwner*> owners() { return {&log_, &witnesses_}; }
  // `epoch` of the deployment: one that has risen since the last life means a restored backup.
  // Errors as DurableLog::open.
  Task<Result<void>> open(stream::Journal& journal, std::uint64_t epoch);
  Task<void> close() { return log_.close(); }

  // For what has happened anyway; durable within about a second, or with the next sync of the journal.
  void note(audit::AuditEntry entry) { audit::note(log_, process_log_, std::move(entry)); }
  // For what was refused to somebody who may ask as often as they like: bounded in rate.
  void note_refusal(audit::AuditEntry entry) {
    refusals_.note(log_, process_log_, std::move(entry), clock_.now());
  }
  // Durable when this completes: for what somebody is about to be told. Errors as AuditLog.
  Task<Result<void>> write(audit::AuditEntry entry);
  Task<Result<void>> durable() { return log_.durable(); }

  // The result of a node's task: checks its receipt against the node's enrolled key, and keeps the head in
  // it.
  //   signing_key  32 bytes, as enrolled; empty: the node is gone, and the authority's word counts
  // Fails when the receipt does not hold; one that is missing is no failure.
  Result<void> take_receipt(const wire::TaskResult& result, const NodeId& node, ByteView signing_key);

  audit::DurableLog& log() { return log_; }
  audit::HeadExchange& heads() { return heads_; }
  const audit::WitnessBook& witnesses() const { return witnesses_; }

 private:
  // What was last found good of a node, so that the next receipt costs one verification and no certificate.
  struct KnownSigner {
    Bytes public_key;
    crypto::VerifyKey key;
    Bytes certificate;  // DER; empty: none was checked yet
  };
  Result<KnownSigner*> signer_of(const NodeId& node, ByteView signing_key);
  Result<audit::Receipt> open_receipt(const Bytes& envelope, const NodeId& node, ByteView signing_key);

  const Clock& clock_;
  const Log& process_log_;
  const HubKeys& keys_;
  audit::DurableLog log_;
  audit::WitnessBook witnesses_;
  audit::HeadExchange heads_;
  audit::RefusalBudget refusals_;
  std::map<NodeId, KnownSigner> signers_;
};

}  // namespace outhaul::hub
