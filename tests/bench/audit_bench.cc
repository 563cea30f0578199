// What auditing costs: an entry, a signature, a receipt, and the check of a million entries.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "audit/receipt.h"
#include "audit/verifier.h"
#include "crypto/digest.h"
#include "testing/audit_chain.h"
#include "testing/test_keys.h"

namespace {

using namespace outhaul;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

audit::AuditEntry sample(int number) {
  audit::AuditEntry entry(audit::AuditAction::task_ended, "acc_01234567890123456789012345",
                          "task_0123456789012345678901" + std::to_string(1000 + number % 9000));
  return std::move(entry).with("end", "exited").with("exit_code", "0").with("stdout_bytes", "12");
}

void measure_verify(int entries) {
  constexpr int entries_a_file = 60'000;
  constexpr int entries_a_checkpoint = 20;
  testing::AuditChain chain;
  const auto built = Clock::now();
  for (int i = 0; i < entries; ++i) {
    if (i % entries_a_file == entries_a_file - 1) chain.begin_file();
    chain.add_entry(sample(i));
    if (i % entries_a_checkpoint == entries_a_checkpoint - 1) chain.add_checkpoint();
  }
  std::printf("append %d entries, sign %d checkpoints: %.2f s\n", entries, entries / entries_a_checkpoint,
              seconds_since(built));
  const auto start = Clock::now();
  audit::ChainVerifier verifier({chain.log(), chain.trusted(), {{"hub", chain.head(), {}}}});
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : chain.files()) {
    bytes += file.size();
    verifier.read_file(name, file);
  }
  verifier.finish();
  std::printf("verify %d entries (%.0f MB): %.2f s, %s\n", entries, static_cast<double>(bytes) / 1e6,
              seconds_since(start), verifier.report().is_whole() ? "whole" : "NOT WHOLE");
}

void measure_receipt() {
  constexpr int rounds = 2000;
  testing::TestDeployment deployment;
  const auto node = deployment.make_node();
  audit::Receipt receipt;
  receipt.task = deployment.make_id<TaskId>();
  receipt.node = node.identity().node;
  receipt.owner = deployment.make_id<AccountId>();
  receipt.task_sha256 = crypto::sha256("task");
  receipt.end = "exited";
  receipt.streams = {{"stdout", {5, crypto::sha256("hello")}}, {"stderr", {0, crypto::sha256("")}}};
  receipt.audit_head = testing::AuditChain(receipt.node.text()).head();
  receipt.certificate = node.signing_certificate();
  const audit::NamedKey key{audit::key_id_of(node.signing_key().public_key()), &node.signing_key()};
  Bytes signed_bytes;
  auto start = Clock::now();
  for (int i = 0; i < rounds; ++i) signed_bytes = audit::sign_receipt(receipt, key);
  std::printf("sign a receipt (%zu bytes): %.1f us\n", signed_bytes.size(),
              seconds_since(start) / rounds * 1e6);
  start = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (!audit::open_receipt(signed_bytes)) std::abort();
  }
  std::printf("open a receipt: %.1f us\n", seconds_since(start) / rounds * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  measure_receipt();
  measure_verify(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
}
