// AuditChain: a signed audit log in memory, as its owner would have written it, cut into files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "audit/audit_entry.h"
#include "audit/head.h"
#include "outhaul/v1/audit.pb.h"
#include "testing/seeded_random.h"

namespace outhaul::testing {

class AuditChain {
 public:
  explicit AuditChain(std::string log = "node_test", std::uint64_t seed = 7)
      : random_(seed),
        log_(std::move(log)),
        key_(crypto::SigningKey::generate(random_)),
        key_id_(audit::key_id_of(key_.public_key())),
        incarnation_(random_.bytes(audit::log_incarnation_bytes)) {
    begin_file();
    v1::AuditStart start;
    start.set_log(log_);
    start.set_incarnation(incarnation_);
    start.set_format(1);
    start.set_public_key(key_.public_key());
    add(audit::ChainKind::start, start.SerializeAsString());
  }

  void add_entry(audit::AuditEntry entry) {
    if (entry.time == WallTime()) entry.time = {++time_};
    add(audit::ChainKind::entry, audit::serialise_entry(entry));
  }
  void add_entries(int count) {
    for (int i = 0; i < count; ++i) {
      add_entry({audit::AuditAction::task_accepted, "hub", "task_" + std::to_string(tip_.sequence)});
    }
  }
  // The log says that it let go what stands up to `before`.
  void add_trim(const audit::ChainTip& before) {
    audit::AuditEntry entry(audit::AuditAction::log_trimmed, "", log_);
    entry = std::move(entry).with("before", std::to_string(before.sequence));
    entry = std::move(entry).with("hash", to_hex(before.hash));
    add_entry(std::move(entry).with("public_key", to_base64(key_.public_key())));
  }
  void add_checkpoint() { add(audit::ChainKind::checkpoint, audit::sign_head(head(), {key_id_, &key_})); }
  // What follows stands in a new file.
  void begin_file() {
    files_[audit::log_file_name(tip_.sequence + 1)] = audit::serialise_file_header({incarnation_, tip_});
  }
  void add(audit::ChainKind kind, ByteView payload) {
    records_.push_back(audit::append_record(tip_, kind, payload));
    files_.rbegin()->second += records_.back();
  }
  audit::AuditHead head() { return {log_, incarnation_, tip_, {++time_}}; }
  const audit::ChainTip& tip() const { return tip_; }
  const Bytes& incarnation() const { return incarnation_; }
  const std::string& log() const { return log_; }
  audit::NamedKey key() const { return {key_id_, &key_}; }
  std::vector<crypto::TrustedKey> trusted() const {
    std::vector<crypto::TrustedKey> keys;
    keys.push_back({key_id_, key_.verify_key()});
    return keys;
  }
  const std::map<std::string, Bytes>& files() const { return files_; }
  const std::vector<Bytes>& records() const { return records_; }

 private:
  SeededRandom random_;
  std::string log_;
  crypto::SigningKey key_;
  KeyId key_id_;
  Bytes incarnation_;
  audit::ChainTip tip_;
  std::int64_t time_ = 1'700'000'000'000'000'000;
  std::map<std::string, Bytes> files_;
  std::vector<Bytes> records_;
};

}  // namespace outhaul::testing
