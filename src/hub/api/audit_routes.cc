#include "audit/bundle.h"
#include "audit/log_reader.h"
#include "audit/ocsf.h"
#include "audit/receipt_file.h"
#include "hub/api/query_reader.h"
#include "hub/api/routes.h"
#include "hub/api/views.h"
#include "hub/streams/hub_streams.h"
#include "hub/streams/output_reader.h"
#include "hub/tasks/task_service.h"
#include "stream/disk.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

struct Asked {
  audit::LogCursor from;
  audit::EntryFilter filter;
  std::uint32_t limit = store::max_page_rows;
};

Result<Asked> asked_of(const http::Request& request) {
  QueryReader query(request.query);
  const auto page = query.page();
  Asked asked;
  asked.filter.action = query.text("action");
  asked.filter.actor = query.text("actor");
  asked.filter.subject = query.text("subject");
  asked.filter.outcome = query.text("outcome");
  if (const auto since = query.number("since")) asked.filter.since = {static_cast<std::int64_t>(*since)};
  if (const auto until = query.number("until")) asked.filter.until = {static_cast<std::int64_t>(*until)};
  if (!asked.filter.outcome.empty() && !audit::find_outcome(asked.filter.outcome))
    query.refuse("outcome", "must be done, refused or failed");
  OUTHAUL_CHECK(query.finish());
  asked.limit = page.limit;
  if (!page.cursor.empty()) {
    OUTHAUL_TRY(cursor, audit::parse_cursor(page.cursor));
    asked.from = cursor;
  }
  return asked;
}

Answer list_audit(Hub& hub, http::RequestContext& context) {
  OUTHAUL_CO_TRY(asked, asked_of(context.request()));
  OUTHAUL_CO_CHECK(co_await hub.audit().log().settle());
  audit::LogReader reader(hub.ports().disk);
  OUTHAUL_CO_TRY(page, reader.read_page(asked.from, asked.filter, asked.limit));
  const auto& log = hub.audit().log().name();
  const auto write = [&log](http::JsonWriter& json, const audit::ReadEntry& read) {
    json.raw(audit::entry_json(read.entry, {log, read.sequence}));
  };
  co_return page_response(page.entries, page.has_more ? audit::cursor_text(page.next) : std::string(), write);
}

// A reference: it lives in the frame that awaits this.
Task<Result<void>> send_log(http::ResponseWriter& writer, audit::LogReader reader, audit::LogCursor at) {
  while (true) {
    OUTHAUL_CO_TRY(block, reader.read_records(at));
    if (block.empty()) co_return co_await writer.finish();
    OUTHAUL_CO_CHECK(co_await writer.write(block));
  }
}

Task<Result<void>> export_audit(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_CHECK(QueryReader(context.request().query).finish());
  audit::AuditEntry entry(audit::AuditAction::log_exported, principal.account.text(),
                          hub.audit().log().name());
  OUTHAUL_CO_CHECK(co_await hub.audit().write(std::move(entry)));
  OUTHAUL_CO_CHECK(co_await hub.audit().log().settle());
  audit::LogReader reader(hub.ports().disk);
  audit::BundleHead bundle;
  bundle.log = hub.audit().log().name();
  OUTHAUL_CO_TRY(header, reader.read_front());
  bundle.front = header;
  bundle.witnesses = hub.audit().witnesses().all();
  bundle.authority = hub.keys().authority.certificate().der();
  http::Response head;
  head.headers.add("Content-Type", std::string(audit::bundle_media_type));
  head.headers.add("Cache-Control", "no-store");
  OUTHAUL_CO_TRY(writer, co_await context.start_response(std::move(head)));
  const auto front = audit::serialise_bundle_head(bundle);
  auto sent = co_await writer->write(front);
  if (sent) sent = co_await send_log(*writer, reader, {header.before.sequence, 0});
  if (!sent) hub.ports().log.failure("an export of the audit log broke off", sent.error());
  co_return Result<void>();
}

Answer get_receipt(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, TaskId::parse(context.path_value("id")));
  OUTHAUL_CO_CHECK(QueryReader(context.request().query).finish());
  OUTHAUL_CO_TRY(row, co_await hub.tasks().load(id));
  if (!principal.may_see(row.owner)) co_return fail(ErrorCode::not_found, "no such task");
  if (!store::is_final(row.state)) co_return fail(ErrorCode::not_found, "the task has not ended yet");
  if (row.result.empty()) co_return fail(ErrorCode::not_found, "the task has no result of a node");
  const auto sources = hub.stream_sources();
  OUTHAUL_CO_TRY(payload, co_await load_completing_payload(sources.streams, sources.database, row.stream));
  const auto result = wire::parse_task_result(payload);
  if (!result || result->receipt.empty())
    co_return fail(ErrorCode::not_found, "no node gave a receipt of this task");
  const auto authority = hub.keys().authority.certificate().der();
  const audit::ReceiptFile file{result->receipt, authority, row.envelope};
  co_return http::json_response(200, audit::serialise_receipt_file(file));
}

}  // namespace

void add_audit_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  using http::RequestContext;
  table.add(Method::get, "/audit", "list_audit", Action::read_audit,
            [&hub](RequestContext& context, const Principal&) { return list_audit(hub, context); });
  table.add_streaming(
      Method::get, "/audit/bundle", "export_audit", Action::read_audit,
      [&hub](RequestContext& context, Principal who) { return export_audit(hub, context, std::move(who)); });
  table.add(
      Method::get, "/tasks/{id}/receipt", "get_receipt", Action::run_tasks,
      [&hub](RequestContext& context, Principal who) { return get_receipt(hub, context, std::move(who)); });
}

}  // namespace outhaul::hub
