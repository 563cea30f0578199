#include "cli/signed_request.h"

#include <algorithm>

#include <fmt/format.h>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/duration_text.h"
#include "base/remedy.h"
#include "cli/terminal.h"
#include "cli/user_keys.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

using std::chrono::nanoseconds;

// The hub's default, when nothing was typed.
constexpr nanoseconds usual_queue_timeout = std::chrono::minutes(5);
// For clocks that differ, and for the way.
constexpr nanoseconds order_margin = std::chrono::minutes(5);

std::string text_of(const json::object& fields, std::string_view key) {
  const auto* value = fields.if_contains(key);
  return value == nullptr ? std::string() : std::string(value->as_string());
}

Result<std::optional<nanoseconds>> span_of(const json::object& fields, std::string_view key) {
  const auto text = text_of(fields, key);
  if (text.empty()) return std::optional<nanoseconds>();
  OUTHAUL_TRY(span, parse_duration(text));
  return std::optional(span);
}

wire::TaskAction action_of(const json::object& fields) {
  if (fields.contains("shell")) return wire::ShellAction{text_of(fields, "shell")};
  if (fields.contains("echo")) return wire::EchoAction{text_of(fields, "echo")};
  wire::ArgvAction action;
  for (const auto& word : fields.at("argv").as_array()) action.argv.emplace_back(word.as_string());
  return action;
}

Result<void> put_times(const json::object& fields, const OrderFacts& facts, wire::TaskSpec& task) {
  OUTHAUL_TRY(timeout, span_of(fields, "timeout"));
  OUTHAUL_TRY(queue_timeout, span_of(fields, "queue_timeout"));
  task.timeout = timeout;
  task.issued_at = facts.now;
  const auto validity = queue_timeout.value_or(usual_queue_timeout) + order_margin;
  if (validity > wire::max_task_validity)
    return fail(ErrorCode::invalid, "--queue-timeout: what is signed is good for a day at most");
  task.expires_at = facts.now + validity;
  return {};
}

bool has_labels(const json::value& node, const json::object& wanted) {
  const auto* labels = member_of(node, "labels");
  return std::ranges::all_of(wanted, [labels](const auto& pair) {
    const auto* found = labels == nullptr ? nullptr : member_of(*labels, std::string_view(pair.key()));
    return found != nullptr && *found == pair.value();
  });
}

bool is_meant(const json::value& node, const json::object& selector) {
  if (text_at(node, "health") != "attached" || text_at(node, "draining") == "true") return false;
  const auto pool = text_of(selector, "pool");
  if (!pool.empty() && text_at(node, "pool") != pool) return false;
  const auto* labels = selector.if_contains("labels");
  return labels == nullptr || has_labels(node, labels->as_object());
}

json::object selector_of(const json::object& fields) {
  const auto* selector = fields.if_contains("selector");
  return selector == nullptr ? json::object() : selector->as_object();
}

// An id is taken as it was typed: the hub need not be asked what it means.
Task<Result<void>> find_node(Api& api, json::object fields, OrderFacts& facts) {
  const auto typed = text_of(selector_of(fields), "node");
  if (const auto id = NodeId::parse(typed)) {
    facts.node = *id;
    co_return Result<void>();
  }
  if (typed.empty()) {
    OUTHAUL_CO_TRY(nodes, co_await api.list("/api/v1/nodes"));
    OUTHAUL_CO_TRY(only, only_node(nodes, fields));
    facts.node = only;
    co_return Result<void>();
  }
  auto target = "/api/v1/nodes/" + http::percent_encode(typed);
  OUTHAUL_CO_TRY(node, co_await api.call_patiently(http::Method::get, std::move(target)));
  OUTHAUL_CO_TRY(id, NodeId::parse(text_at(node, "id")));
  facts.node = id;
  facts.node_name = typed;
  co_return Result<void>();
}

}  // namespace

Result<wire::UserOrder> order_of(const json::object& fields, const OrderFacts& facts) {
  wire::TaskSpec task;
  task.issuer = facts.deployment;
  task.audience = facts.node;
  task.owner = facts.account;
  task.nonce = facts.nonce;
  task.action = action_of(fields);
  task.cwd = text_of(fields, "cwd");
  if (const auto* variables = fields.if_contains("env")) {
    for (const auto& [name, value] : variables->as_object())
      task.env.push_back({std::string(name), std::string(value.as_string())});
  }
  if (fields.contains("isolation")) {
    OUTHAUL_TRY(level, wire::parse_isolation(text_of(fields, "isolation")));
    task.isolation = level;
  }
  task.is_interactive = fields.contains("interactive");
  OUTHAUL_CHECK(put_times(fields, facts, task));
  auto order = wire::make_user_order(std::move(task));
  order.node_name = facts.node_name;
  order.has_stdin = fields.contains("stdin");
  return order;
}

Result<NodeId> only_node(const json::array& nodes, const json::object& fields) {
  const auto selector = selector_of(fields);
  std::vector<std::string> ids;
  std::string names;
  for (const auto& node : nodes) {
    if (!is_meant(node, selector)) continue;
    ids.push_back(text_at(node, "id"));
    names += (names.empty() ? "" : ", ") + shown(text_at(node, "name"));
  }
  if (ids.size() == 1) return NodeId::parse(ids.front());
  auto why = ids.empty() ? std::string("no node that is meant is attached")
                         : fmt::format("several nodes are meant ({})", names);
  return fail(with_remedy(Error(ErrorCode::invalid, std::move(why)),
                          "What you sign is for one node: name it with `--node`."));
}

Task<Result<Bytes>> sign_request(Cli& cli, Api& api, RunOptions options) {
  OUTHAUL_CO_TRY(fields, task_fields(options));
  OUTHAUL_CO_TRY(key, load_user_key(options.key));
  OUTHAUL_CO_TRY(self, co_await api.call_patiently(http::Method::get, "/api/v1/whoami"));
  OrderFacts facts;
  facts.deployment = text_at(self, "deployment");
  OUTHAUL_CO_TRY(account, AccountId::parse(text_at(self, "account_id")));
  facts.account = account;
  OUTHAUL_CO_CHECK(co_await find_node(api, fields, facts));
  facts.now = cli.clock.wall_now();
  facts.nonce = cli.random.bytes(wire::task_nonce_bytes);
  OUTHAUL_CO_TRY(order, order_of(fields, facts));
  OUTHAUL_CO_TRY(signed_order, wire::sign_user_order(order, key));
  json::object body{{"user_order", to_base64(signed_order)}};
  if (const auto* wait = fields.if_contains("queue_timeout")) body["queue_timeout"] = *wait;
  co_return json::serialize(body);
}

}  // namespace outhaul::cli
