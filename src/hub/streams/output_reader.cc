#include "hub/streams/output_reader.h"

#include "hub/tasks/task_ender.h"

namespace outhaul::hub {
namespace {

struct Archive {
  std::optional<store::TaskRow> task;
  std::optional<Bytes> records;
};

Result<Archive> load_archive(store::ReadTransaction& tx, const StreamId& id) {
  Archive archive;
  OUTHAUL_TRY(task, tx.tasks.find_by_stream(id));
  OUTHAUL_TRY(records, tx.streams.find_records(id));
  archive.task = std::move(task);
  archive.records = std::move(records);
  return archive;
}

// What of an archive, which is whole, lies from `from` on.
Result<stream::ReadChunk> chunk_of(const SharedSlice& all, std::uint64_t from) {
  stream::ReadChunk chunk;
  std::optional<std::size_t> first_whole;
  for (std::size_t at = 0; at < all.size();) {
    OUTHAUL_TRY(view, stream::parse_record(all.view().substr(at)));
    if (view.header.offset >= from) {
      if (!first_whole) first_whole = at;
    } else if (view.end_offset() > from) {
      const auto record = stream::EncodedRecord::assume(view.header, all.part(at, view.size()));
      chunk.slices.push_back(record.tail_from(from).bytes());
    }
    chunk.next = {view.end_offset(), stream::completes_stream(view.header.kind)};
    at += view.size();
  }
  if (from > chunk.next.offset) return fail(ErrorCode::invalid, "the offset is past the end of the stream");
  if (first_whole) chunk.slices.push_back(all.part(*first_whole, all.size() - *first_whole));
  for (const auto& slice : chunk.slices) chunk.bytes += slice.size();
  return chunk;
}

}  // namespace

Task<Result<stream::ReadChunk>> OutputReader::next(std::size_t max_bytes, Wait wait) {
  while (!position_.complete) {
    if (sources_.streams.find(id_)) {
      OUTHAUL_CO_TRY(chunk, sources_.streams.read(id_, position_.offset, max_bytes));
      if (chunk.bytes > 0) co_return take(std::move(chunk));
      if (is_past_end()) break;
    }
    const auto task = sources_.board.find_by_stream(id_);
    if (!task) co_return co_await read_archive();
    if (task->is_shown_final() && !is_completing()) co_return end_of(task->row);
    if (wait == Wait::no) break;
    co_await wait_for_change(task);
  }
  co_return stream::ReadChunk{{}, 0, position_};
}

Result<stream::ReadChunk> OutputReader::take(stream::ReadChunk chunk) {
  position_ = chunk.next;
  return chunk;
}

bool OutputReader::is_past_end() const {
  const auto totals = sources_.streams.find(id_);
  return totals && totals->durable.complete && position_.offset >= totals->durable.offset;
}

// Its completing record is here and will be handed out once it is durable.
bool OutputReader::is_completing() const {
  const auto totals = sources_.streams.find(id_);
  return totals && totals->complete;
}

Task<Result<stream::ReadChunk>> OutputReader::read_archive() {
  auto work = [id = id_](store::ReadTransaction& tx) { return load_archive(tx, id); };
  OUTHAUL_CO_TRY(archive, co_await sources_.database.read(std::move(work)));
  if (archive.records) {
    OUTHAUL_CO_TRY(chunk, chunk_of(SharedSlice::take(std::move(*archive.records)), position_.offset));
    co_return take(std::move(chunk));
  }
  if (!archive.task || archive.task->stream != id_ || !store::is_final(archive.task->state)) {
    co_return fail(ErrorCode::not_found, "no such stream");
  }
  co_return end_of(*archive.task);
}

Result<stream::ReadChunk> OutputReader::end_of(const store::TaskRow& row) {
  const auto payload = wire::serialise_task_result(result_of(row));
  const auto time = row.times.finished_at.value_or(WallTime());
  const auto record =
      stream::EncodedRecord::make(stream::RecordKind::result, position_.offset, time, payload);
  stream::ReadChunk chunk{{record.bytes()}, record.bytes().size(), {record.end_offset(), true}};
  return take(std::move(chunk));
}

// One event tells of more output and of the end, so that a reader that keeps up costs no more than the
// writer. Input is read by nobody in a hurry.
Task<void> OutputReader::wait_for_change(LiveTaskPtr task) {
  if (task->row.stream == id_) {
    co_await task->output.wait_pulse();
  } else {
    static_cast<void>(co_await sources_.streams.wait_for_more(id_, position_.offset));
  }
}

}  // namespace outhaul::hub
