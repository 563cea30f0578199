#include "hub/streams/hub_streams.h"

#include <limits>

namespace outhaul::hub {
namespace {

// The hub keeps finished output until somebody removes it, so only the disk's floor bounds it.
stream::StreamStoreConfig store_config() {
  stream::StreamStoreConfig config;
  config.quota_bytes = std::numeric_limits<std::uint64_t>::max();
  return config;
}

}  // namespace

HubStreams::HubStreams(const HubPorts& ports)
    : executor_(ports.executor), disk_(ports.disk), log_(ports.log), store_(executor_, disk_, store_config()) {}

Task<Result<void>> HubStreams::open() {
  std::vector<stream::JournalOwner*> owners{&store_};
  auto journal = co_await stream::Journal::open(executor_, disk_, std::move(owners));
  if (!journal) co_return fail(std::move(journal).error().during("open the stream journal"));
  journal_ = std::move(*journal);
  auto recovered = co_await store_.recover(*journal_);
  if (!recovered) co_return fail(std::move(recovered).error().during("read the streams"));
  report_recovery();
  co_return Result<void>();
}

void HubStreams::report_recovery() const {
  const auto& journal = journal_->recovery();
  if (journal.cut_offset) {
    log_.warn("journal cut at its torn end", {{"file", journal.file},
                                              {"offset", *journal.cut_offset},
                                              {"bytes", journal.cut_bytes},
                                              {"reason", journal.reason}});
  }
  for (const auto& cut : store_.recovery().cuts) {
    log_.warn(cut.is_damage ? "segment damaged before its end" : "segment cut at its torn end",
              {{"file", cut.file}, {"offset", cut.offset}, {"reason", cut.reason}});
  }
}

Task<void> HubStreams::close() {
  co_await store_.close();
  if (journal_) co_await journal_->close();
}

}  // namespace outhaul::hub
