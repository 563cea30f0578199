#include "hub/api/query_reader.h"
#include "hub/api/record_sender.h"
#include "hub/api/routes.h"

namespace outhaul::hub {
namespace {

struct Owner {
  TaskId task;
  AccountId account;
};

Result<std::optional<Owner>> find_owner_row(store::ReadTransaction& tx, const StreamId& stream) {
  OUTHAUL_TRY(row, tx.tasks.find_by_stream(stream));
  if (!row) return std::optional<Owner>();
  return std::optional(Owner{row->id, row->owner});
}

// A stream of somebody else does not exist, as far as the caller can see.
Task<Result<Owner>> find_owner(Hub& hub, StreamId stream, Principal principal) {
  const auto missing = [] { return fail(ErrorCode::not_found, "no such stream"); };
  const auto sources = hub.stream_sources();
  if (const auto task = sources.board.find_by_stream(stream)) {
    if (!principal.may_see(task->row.owner)) co_return missing();
    co_return Owner{task->row.id, task->row.owner};
  }
  auto work = [stream](store::ReadTransaction& tx) { return find_owner_row(tx, stream); };
  OUTHAUL_CO_TRY(owner, co_await sources.database.read(std::move(work)));
  if (!owner || !principal.may_see(owner->account)) co_return missing();
  co_return std::move(*owner);
}

Task<Result<void>> read_stream(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, StreamId::parse(context.path_value("id")));
  QueryReader query(context.request().query);
  const auto from = query.number("from").value_or(0);
  const auto wait = query.flag("follow") ? OutputReader::Wait::for_more : OutputReader::Wait::no;
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(owner, co_await find_owner(hub, id, std::move(principal)));
  OutputReader reader(hub.stream_sources(), id, from);
  auto head = records_head(200, id, owner.task);
  co_return co_await send_records(context, std::move(head), std::move(reader), wait);
}

}  // namespace

void add_stream_routes(RouteTable& table, Hub& hub) {
  table.add_streaming(http::Method::get, "/streams/{id}", "read_stream", Action::run_tasks,
                      [&hub](http::RequestContext& context, Principal who) {
                        return read_stream(hub, context, std::move(who));
                      });
}

}  // namespace outhaul::hub
