// clang-format off: one action a line, so that a diff shows what changed.
// OUTHAUL_AUDIT(name, word, OCSF class, OCSF activity): every kind of audit entry, with its class and activity in
// OCSF 1.3 (https://github.com/ocsf/ocsf-schema/tree/v1.3.0): 1007 process activity, 1008 event log activity, 3001 account change,
// 3002 authentication, 3003 authorize session, 3004 entity management, 6002 application lifecycle, 6003 API
// activity; 99 is "other".
// No include guard: read several times with different definitions of OUTHAUL_AUDIT. Words are never reused.

// The log itself
OUTHAUL_AUDIT(log_restored, "log.restored", 1008, 99)
OUTHAUL_AUDIT(log_key_changed, "log.key_changed", 1008, 99)
OUTHAUL_AUDIT(log_cut, "log.cut", 1008, 99)
OUTHAUL_AUDIT(log_damaged, "log.damaged", 1008, 99)
OUTHAUL_AUDIT(log_trimmed, "log.trimmed", 1008, 99)
OUTHAUL_AUDIT(log_exported, "log.exported", 1008, 3)
OUTHAUL_AUDIT(witness_regressed, "witness.regressed", 1008, 99)

// Processes of Outhaul
OUTHAUL_AUDIT(process_started, "process.started", 6002, 3)
OUTHAUL_AUDIT(process_stopped, "process.stopped", 6002, 4)
OUTHAUL_AUDIT(node_locked, "node.locked", 6002, 7)
OUTHAUL_AUDIT(node_unlocked, "node.unlocked", 6002, 6)
OUTHAUL_AUDIT(policy_loaded, "policy.loaded", 3004, 3)

// Sessions of nodes
OUTHAUL_AUDIT(session_attached, "session.attached", 3002, 1)
OUTHAUL_AUDIT(session_refused, "session.refused", 3002, 1)
OUTHAUL_AUDIT(session_ended, "session.ended", 3002, 2)

// Tasks
OUTHAUL_AUDIT(task_submitted, "task.submitted", 6003, 1)
OUTHAUL_AUDIT(task_dispatched, "task.dispatched", 6003, 3)
OUTHAUL_AUDIT(task_adopted, "task.adopted", 6003, 3)
OUTHAUL_AUDIT(task_accepted, "task.accepted", 6003, 1)
OUTHAUL_AUDIT(task_refused, "task.refused", 6003, 1)
OUTHAUL_AUDIT(task_started, "task.started", 1007, 1)
OUTHAUL_AUDIT(task_ended, "task.ended", 1007, 2)
OUTHAUL_AUDIT(task_cancelled, "task.cancelled", 6003, 4)
OUTHAUL_AUDIT(receipt_refused, "receipt.refused", 6003, 99)

// Consent of a node's owner
OUTHAUL_AUDIT(consent_asked, "consent.asked", 3003, 99)
OUTHAUL_AUDIT(consent_given, "consent.given", 3003, 1)
OUTHAUL_AUDIT(consent_withheld, "consent.withheld", 3003, 99)
OUTHAUL_AUDIT(consent_forgotten, "consent.forgotten", 3003, 2)

// People and machines
OUTHAUL_AUDIT(account_created, "account.created", 3001, 1)
OUTHAUL_AUDIT(account_disabled, "account.disabled", 3001, 5)
OUTHAUL_AUDIT(token_created, "token.created", 3001, 99)
OUTHAUL_AUDIT(token_revoked, "token.revoked", 3001, 99)
OUTHAUL_AUDIT(user_key_added, "user_key.added", 3001, 99)
OUTHAUL_AUDIT(user_key_removed, "user_key.removed", 3001, 99)
OUTHAUL_AUDIT(request_refused, "request.refused", 3002, 1)
OUTHAUL_AUDIT(node_token_created, "node_token.created", 3004, 1)
OUTHAUL_AUDIT(node_enrolled, "node.enrolled", 3004, 1)
OUTHAUL_AUDIT(enrolment_refused, "enrolment.refused", 3004, 1)
OUTHAUL_AUDIT(enrolment_asked, "enrolment.asked", 3004, 99)
OUTHAUL_AUDIT(enrolment_approved, "enrolment.approved", 3004, 99)
OUTHAUL_AUDIT(enrolment_denied, "enrolment.denied", 3004, 99)
OUTHAUL_AUDIT(node_token_revoked, "node_token.revoked", 3004, 4)
OUTHAUL_AUDIT(certificate_renewed, "certificate.renewed", 3004, 3)
OUTHAUL_AUDIT(renewal_refused, "renewal.refused", 3004, 3)
OUTHAUL_AUDIT(rotation_asked, "rotation.asked", 3004, 3)
OUTHAUL_AUDIT(node_drained, "node.drained", 3004, 3)
OUTHAUL_AUDIT(node_undrained, "node.undrained", 3004, 3)
OUTHAUL_AUDIT(node_left, "node.left", 3004, 4)
OUTHAUL_AUDIT(node_removed, "node.removed", 3004, 4)
