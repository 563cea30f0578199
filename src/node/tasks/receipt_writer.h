// ReceiptWriter: makes the node's receipt of a task that has ended.
//   runs on  the node's strand
#pragma once

#include "audit/durable_log.h"
#include "node/tasks/task_ledger.h"
#include "wire/session.h"
#include "wire/task_result.h"

namespace outhaul::node {

class ReceiptWriter {
 public:
  // Both outlive the writer.
  ReceiptWriter(NodeId self, const wire::HelloSigner& signer, const audit::DurableLog& log);

  // Signed bytes, for TaskResult::receipt. `result` is what they will stand in.
  Bytes write(const TaskEntry& entry, const wire::TaskResult& result) const;

 private:
  NodeId self_;
  const wire::HelloSigner& signer_;
  const audit::DurableLog& log_;
  KeyId key_id_;
};

}  // namespace outhaul::node
