#include "hub/streams/hub_streams.h"

#include <algorithm>
#include <limits>

#include "wire/task_result.h"

namespace outhaul::hub {
namespace {

// The hub keeps finished output until somebody removes it, so only the disk's floor bounds it.
stream::StreamStoreConfig store_config(const HubSettings& settings) {
  stream::StreamStoreConfig config;
  config.small_stream_bytes = settings.files.small_stream_bytes;
  config.segment_bytes = settings.files.segment_bytes;
  config.quota_bytes = std::numeric_limits<std::uint64_t>::max();
  return config;
}

constexpr std::size_t read_bytes = 256U << 10U;

// `records` are whole and at least one.
Result<stream::RecordView> last_record(ByteView records) {
  while (true) {
    OUTHAUL_TRY(record, stream::parse_record(records));
    records.remove_prefix(record.size());
    if (records.empty()) return record;
  }
}

}  // namespace

HubStreams::HubStreams(const HubPorts& ports, const HubSettings& settings)
    : disk_(ports.disk),
      log_(ports.log),
      journal_config_{settings.journal_must_exist, settings.files.checkpoint_bytes},
      store_(ports.executor, disk_, store_config(settings)) {}

Task<Result<void>> HubStreams::open(std::vector<stream::JournalOwner*> others) {
  std::vector<stream::JournalOwner*> owners{&store_};
  owners.insert(owners.end(), others.begin(), others.end());
  auto journal = co_await stream::Journal::open(disk_, std::move(owners), journal_config_);
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
    log_.warn(
        cut.is_damage ? "segment damaged before its end" : "segment cut at its torn end",
        {{"file", cut.file}, {"offset", cut.offset}, {"reason", cut.reason}, {"moved_to", cut.moved_to}});
  }
  for (const auto& file : store_.recovery().set_aside) {
    log_.warn("a segment that the journal does not name was set aside",
              {{"file", file.name}, {"bytes", file.size}});
  }
}

Task<void> HubStreams::close() { return store_.close(); }

Result<Bytes> completing_payload(stream::StreamStore& store, const StreamId& id) {
  const auto totals = store.find(id);
  if (!totals) return fail(ErrorCode::not_found, "no such stream");
  if (!totals->complete) return fail(ErrorCode::conflict, "the stream is not complete");
  // A result is at most so long, so the last record begins after this.
  auto from =
      std::max(totals->start, totals->end - std::min<std::uint64_t>(totals->end, wire::max_result_bytes));
  while (true) {
    OUTHAUL_TRY(chunk, store.read(id, from, read_bytes));
    if (chunk.bytes == 0) return fail(ErrorCode::conflict, "the stream's end is not durable");
    from = chunk.next.offset;
    if (!chunk.next.complete) continue;
    OUTHAUL_TRY(last, last_record(chunk.slices.back().view()));
    return Bytes(last.payload);
  }
}

Task<Result<Bytes>> load_completing_payload(stream::StreamStore& store, store::Database& database,
                                            StreamId id) {
  if (store.find(id)) co_return completing_payload(store, id);
  auto work = [id](store::ReadTransaction& tx) { return tx.streams.find_records(id); };
  OUTHAUL_CO_TRY(records, co_await database.read(std::move(work)));
  if (!records || records->empty()) co_return fail(ErrorCode::not_found, "no such stream");
  OUTHAUL_CO_TRY(last, last_record(*records));
  co_return Bytes(last.payload);
}

}  // namespace outhaul::hub
