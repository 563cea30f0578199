#include <array>
#include <csignal>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "base/duration_text.h"
#include "crypto/digest.h"
#include "http/json_reader.h"
#include "http/sse.h"
#include "hub/accounts/user_key_service.h"
#include "hub/api/query_reader.h"
#include "hub/api/record_sender.h"
#include "hub/api/routes.h"
#include "hub/api/task_body.h"
#include "hub/api/task_view.h"
#include "hub/api/views.h"
#include "hub/nodes/node_service.h"
#include "hub/tasks/task_service.h"

namespace outhaul::hub {
namespace {

using Answer = Task<Result<http::Response>>;

// Below the idle limit of common proxies.
constexpr std::chrono::seconds max_wait{60};
constexpr std::size_t max_key_bytes = 128;
constexpr std::size_t max_cancel_body_bytes = 4096;
constexpr std::size_t max_stdin_bytes = std::size_t{1} << 20U;

TaskFacts facts_of(Hub& hub, store::TaskRow row) {
  TaskFacts facts;
  const auto node = hub.nodes().find(row.node.text());
  if (node) facts.node_name = (*node)->row.name;
  facts.is_awaiting_consent =
      !store::is_final(row.state) && hub.nodes().find_question(row.node, row.id) != nullptr;
  facts.waiting = hub.tasks().waiting(row.id);
  facts.row = std::move(row);
  return facts;
}

// A task of somebody else does not exist, as far as the caller can see.
Task<Result<store::TaskRow>> load_visible(Hub& hub, TaskId id, Principal principal) {
  OUTHAUL_CO_TRY(row, co_await hub.tasks().load(id));
  if (!principal.may_see(row.owner)) co_return fail(ErrorCode::not_found, "no such task");
  co_return std::move(row);
}

Result<std::optional<IdempotencyKey>> key_of(const http::Request& request, ByteView body) {
  const auto key = request.headers.find("Idempotency-Key");
  if (!key) return std::optional<IdempotencyKey>();
  if (key->empty() || key->size() > max_key_bytes)
    return fail(ErrorCode::invalid, "Idempotency-Key: 1 to 128 bytes");
  return std::optional(IdempotencyKey{std::string(*key), crypto::sha256(body)});
}

Result<TaskOrder> order_of(const http::Request& request, ByteView body, const AccountId& owner) {
  OUTHAUL_TRY(order, parse_task_order(body));
  order.owner = owner;
  const auto header = request.headers.find("traceparent");
  if (header && !order.trace) {
    OUTHAUL_TRY(trace, wire::TraceContext::parse(*header));
    order.trace = trace;
  }
  return std::move(order);
}

struct CreateQuery {
  bool follow = false;
  std::optional<std::chrono::nanoseconds> wait;
};

Result<CreateQuery> create_query_of(const http::Request& request) {
  QueryReader query(request.query);
  CreateQuery asked{query.flag("follow"), query.duration("wait", max_wait)};
  if (asked.follow && asked.wait) query.refuse("wait", "does not go with follow");
  OUTHAUL_CHECK(query.finish());
  return asked;
}

Task<Result<void>> respond_task(Hub& hub, http::RequestContext& context, Submission made,
                                std::optional<std::chrono::nanoseconds> wait) {
  const auto deadline = hub.ports().clock.now() + wait.value_or(std::chrono::nanoseconds::zero());
  OUTHAUL_CO_TRY(row, co_await hub.tasks().wait_ended(made.task, deadline));
  auto response = item_response(201, facts_of(hub, std::move(row)), write_task);
  response.headers.add("Outhaul-Task-Id", made.task.text());
  response.headers.add("Outhaul-Stream-Id", made.stream.text());
  response.headers.add("Location", std::string(api_root) + "/tasks/" + made.task.text());
  co_await context.respond(std::move(response));
  co_return Result<void>();
}

Task<Result<void>> create_task(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(query, create_query_of(context.request()));
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_task_body_bytes));
  OUTHAUL_CO_TRY(order, order_of(context.request(), body, principal.account));
  if (!order.user_order.empty())
    OUTHAUL_CO_CHECK(co_await hub.user_keys().check(order.user_order, principal.account));
  OUTHAUL_CO_TRY(key, key_of(context.request(), body));
  OUTHAUL_CO_TRY(made, co_await hub.tasks().submit(std::move(order), std::move(key)));
  if (!query.follow) co_return co_await respond_task(hub, context, made, query.wait);
  OutputReader reader(hub.stream_sources(), made.stream, 0);
  auto head = records_head(201, made.stream, made.task);
  co_return co_await send_records(context, std::move(head), std::move(reader), OutputReader::Wait::for_more);
}

Result<std::optional<store::TaskState>> state_filter(const std::string& word) {
  if (word.empty()) return std::optional<store::TaskState>();
  const auto state = store::find_task_state(word);
  if (!state) return fail(ErrorCode::invalid, "state: no such state");
  return state;
}

// The account of a filter by name; a member always sees its own and nothing else.
Task<Result<AccountId>> account_filter(Hub& hub, std::string id_or_name, Principal principal) {
  if (!principal.is_admin()) co_return principal.account;
  if (id_or_name.empty()) co_return AccountId();
  OUTHAUL_CO_TRY(account, co_await hub.accounts().find(std::move(id_or_name)));
  co_return account.id;
}

Answer list_tasks(Hub& hub, http::RequestContext& context, Principal principal) {
  QueryReader query(context.request().query);
  auto page = query.page();
  const auto state = query.text("state");
  const auto node = query.text("node");
  auto account = query.text("account");
  OUTHAUL_CO_CHECK(query.finish());
  store::TaskFilter filter;
  OUTHAUL_CO_TRY(wanted, state_filter(state));
  filter.state = wanted;
  OUTHAUL_CO_TRY(owner, co_await account_filter(hub, std::move(account), std::move(principal)));
  filter.owner = owner;
  if (!node.empty()) {
    // A removed node has no name any more, but its tasks can still be listed by its id.
    const auto known = hub.nodes().find(node);
    const auto id = known ? Result<NodeId>((*known)->row.id) : NodeId::parse(node);
    if (!id) co_return fail(ErrorCode::not_found, "node: none of this name or id");
    filter.node = *id;
  }
  OUTHAUL_CO_TRY(tasks, co_await hub.tasks().list(std::move(filter), std::move(page)));
  const auto write = [&hub](http::JsonWriter& json, const store::TaskRow& row) {
    write_task_in_list(json, facts_of(hub, row));
  };
  co_return page_response(tasks.rows, tasks.next_cursor, write);
}

Answer get_task(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, TaskId::parse(context.path_value("id")));
  QueryReader query(context.request().query);
  const auto wait = query.duration("wait", max_wait);
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_TRY(row, co_await load_visible(hub, id, std::move(principal)));
  if (!wait) co_return item_response(200, facts_of(hub, std::move(row)), write_task);
  OUTHAUL_CO_TRY(later, co_await hub.tasks().wait_ended(id, hub.ports().clock.now() + *wait));
  co_return item_response(200, facts_of(hub, std::move(later)), write_task);
}

struct SignalWord {
  std::string_view word;
  int number;
};
constexpr std::array signal_words = {
    SignalWord{"TERM", SIGTERM}, SignalWord{"INT", SIGINT},   SignalWord{"HUP", SIGHUP},
    SignalWord{"QUIT", SIGQUIT}, SignalWord{"USR1", SIGUSR1}, SignalWord{"USR2", SIGUSR2},
    SignalWord{"KILL", SIGKILL},
};

Result<CancelWish> read_cancel(ByteView body, CancelWish wish) {
  if (body.empty()) return wish;
  OUTHAUL_TRY(json, http::JsonReader::parse(body));
  if (const auto word = json.find_string("signal", 16)) {
    const auto* found = std::ranges::find(signal_words, *word, &SignalWord::word);
    if (found == signal_words.end()) {
      json.refuse("signal", "must be TERM, INT, HUP, QUIT, USR1, USR2 or KILL");
    } else {
      wish.signal = found->number;
    }
  }
  if (const auto text = json.find_string("grace", 64)) {
    const auto span = parse_duration(*text);
    if (span && *span <= wire::max_term_grace) {
      wish.grace = *span;
    } else {
      json.refuse("grace", "must be a duration of at most " + duration_text(wire::max_term_grace));
    }
  }
  OUTHAUL_CHECK(json.finish());
  return wish;
}

Answer cancel_task(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, TaskId::parse(context.path_value("id")));
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_cancel_body_bytes));
  OUTHAUL_CO_TRY(wish, read_cancel(body, CancelWish{.grace = hub.settings().term_grace}));
  wish.by = principal.account;
  OUTHAUL_CO_CHECK(co_await load_visible(hub, id, std::move(principal)));
  OUTHAUL_CO_TRY(row, co_await hub.tasks().cancel(id, wish));
  co_return item_response(202, facts_of(hub, std::move(row)), write_task);
}

Answer append_stdin(Hub& hub, http::RequestContext& context, Principal principal) {
  OUTHAUL_CO_TRY(id, TaskId::parse(context.path_value("id")));
  QueryReader query(context.request().query);
  StdinInlet::Piece piece;
  const auto offset = query.number("offset");
  if (!offset) query.refuse("offset", "must be given");
  piece.offset = offset.value_or(0);
  piece.is_last = query.flag("end");
  OUTHAUL_CO_CHECK(query.finish());
  OUTHAUL_CO_CHECK(co_await load_visible(hub, id, std::move(principal)));
  OUTHAUL_CO_TRY(body, co_await context.read_body(max_stdin_bytes));
  piece.bytes = std::move(body);
  OUTHAUL_CO_TRY(position, co_await hub.tasks().append_stdin(id, std::move(piece)));
  http::JsonWriter json;
  json.begin_object().field("offset", position.offset).field("end", position.complete).end_object();
  co_return http::json_response(200, std::move(json).take_text());
}

Task<Result<void>> send_states(Hub& hub, http::EventWriter& events, TaskId id,
                               std::optional<store::TaskState> seen) {
  while (true) {
    OUTHAUL_CO_TRY(row, co_await hub.tasks().wait_change(id, seen));
    const bool is_news = row.state != seen;
    seen = row.state;
    if (is_news) {
      http::JsonWriter json;
      const auto word = std::string(store::name_of(row.state));
      write_task(json, facts_of(hub, std::move(row)));
      http::ServerSentEvent event{word, "state", std::move(json).take_text()};
      OUTHAUL_CO_CHECK(co_await events.send(std::move(event)));
    }
    if (store::is_final(*seen)) co_return co_await events.finish();
  }
}

// The id of an event is the state that it tells: after a break, and after a restart of the hub, the client
// hears of the present state when it is another.
Task<Result<void>> watch_task(Hub& hub, http::RequestContext& context, Principal principal) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  OUTHAUL_CO_TRY(id, TaskId::parse(context.path_value("id")));
  OUTHAUL_CO_CHECK(co_await load_visible(hub, id, std::move(principal)));
  const auto seen = store::find_task_state(context.request().headers.value_or_empty("Last-Event-ID"));
  OUTHAUL_CO_TRY(events, co_await http::EventWriter::start(context, hub.ports().clock));
  static_cast<void>(
      co_await (send_states(hub, *events, id, seen) || events->keep_alive() || context.client_left()));
  co_return Result<void>();
}

}  // namespace

void add_task_routes(RouteTable& table, Hub& hub) {
  using http::Method;
  using http::RequestContext;
  const auto action = Action::run_tasks;
  table.add_streaming(
      Method::post, "/tasks", "create_task", action,
      [&hub](RequestContext& context, Principal who) { return create_task(hub, context, std::move(who)); });
  table.add(Method::get, "/tasks", "list_tasks", action, [&hub](RequestContext& context, Principal who) {
    return list_tasks(hub, context, std::move(who));
  });
  table.add(Method::get, "/tasks/{id}", "get_task", action, [&hub](RequestContext& context, Principal who) {
    return get_task(hub, context, std::move(who));
  });
  table.add(
      Method::post, "/tasks/{id}/cancel", "cancel_task", action,
      [&hub](RequestContext& context, Principal who) { return cancel_task(hub, context, std::move(who)); });
  table.add(
      Method::put, "/tasks/{id}/stdin", "append_stdin", action,
      [&hub](RequestContext& context, Principal who) { return append_stdin(hub, context, std::move(who)); });
  table.add_streaming(
      Method::get, "/tasks/{id}/events", "watch_task", action,
      [&hub](RequestContext& context, Principal who) { return watch_task(hub, context, std::move(who)); });
}

}  // namespace outhaul::hub
