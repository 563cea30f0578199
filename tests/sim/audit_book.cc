#include "tests/sim/audit_book.h"

#include <fmt/format.h>

#include "audit/audit_entry.h"
#include "audit/log_files.h"
#include "audit/receipt.h"
#include "wire/task_result.h"

namespace outhaul::sim {
namespace {

class ImageFiles final : public audit::LogFiles {
 public:
  explicit ImageFiles(const stream::MemoryDiskImage& image) : image_(image) {}
  Result<std::vector<std::string>> list() override {
    std::vector<std::string> names;
    for (const auto& [name, content] : image_.files) names.push_back(name);
    return names;
  }
  Result<Bytes> read(const std::string& name) override { return image_.files.at(name)->bytes; }

 private:
  const stream::MemoryDiskImage& image_;
};

void collect(ByteView records, AuditedActions& actions) {
  while (const auto record = audit::parse_record(records)) {
    records.remove_prefix(record->size());
    if (record->kind != audit::ChainKind::entry) continue;
    if (const auto entry = audit::parse_entry(record->payload)) actions[entry->action].insert(entry->subject);
  }
}

}  // namespace

void AuditBook::note_head(const std::string& log, const Place& place, ByteView envelope) {
  if (envelope.empty()) return;
  const auto head = audit::assume_head(envelope);
  if (!head || head->log != log)
    return verdict_.fail("heads_are_readable", log + " sent a head that is not one of its log");
  auto& reached = reached_[{log, place.path}];
  if (place.connection < reached.connection) return;
  if (head->tip.sequence < reached.sequence) {
    return verdict_.fail("heads_never_run_backwards",
                         fmt::format("{} sent head {} after {}", log, head->tip.sequence, reached.sequence));
  }
  const bool is_news = head->tip.sequence > reached.sequence;
  reached = {head->tip.sequence, place.connection};
  if (is_news) seen_[log].push_back({"the wire", *head, {}});
}

void AuditBook::note_restore(const std::string& log) {
  std::erase_if(reached_, [&log](const auto& entry) { return entry.first.first == log; });
}

void AuditBook::note_result(ByteView payload) {
  const auto result = wire::parse_task_result(payload);
  if (!result || result->receipt.empty()) return;
  auto receipt = audit::open_receipt(result->receipt);
  if (!receipt) return verdict_.fail("receipts_hold", receipt.error().what());
  if (const auto matched = audit::match_result(*receipt, *result); !matched)
    return verdict_.fail("receipts_hold", matched.error().what());
  if (!receipt->audit_head) return;
  const auto log = receipt->audit_head->log;
  seen_[log].push_back({"a receipt", *std::move(receipt->audit_head), {}});
}

void AuditBook::check(const std::string& log, const stream::MemoryDiskImage& image) {
  ImageFiles files(image);
  const auto view = audit::read_journal_view(files);
  if (!view) return verdict_.fail("audit_is_whole", log + ": " + view.error().what());
  const auto report = audit::check_log(files, *view, {log, {}, seen_[log]});
  if (!report) return verdict_.fail("audit_is_whole", log + ": " + report.error().what());
  if (report->is_whole()) return;
  const auto& finding = report->findings.front();
  verdict_.fail("audit_is_whole", fmt::format("{}: {} offset {} record {}: {}", log, finding.file,
                                              finding.offset, finding.sequence, finding.what));
}

AuditedActions AuditBook::actions_of(const stream::MemoryDiskImage& image) {
  ImageFiles files(image);
  AuditedActions actions;
  for (const auto& [name, content] : image.files) {
    if (audit::is_log_file_name(name))
      collect(ByteView(content->bytes).substr(audit::log_file_header_bytes), actions);
  }
  if (const auto view = audit::read_journal_view(files)) {
    for (const auto& record : view->records) collect(record, actions);
  }
  return actions;
}

}  // namespace outhaul::sim
