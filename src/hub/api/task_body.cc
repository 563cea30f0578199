#include "hub/api/task_body.h"

#include "base/duration_text.h"
#include "http/json_reader.h"
#include "wire/user_order.h"

namespace outhaul::hub {
namespace {

constexpr std::chrono::hours max_queue_timeout{24 * 30};

std::optional<std::chrono::nanoseconds> find_duration(http::JsonReader& json, std::string_view key,
                                                      std::chrono::nanoseconds most) {
  const auto text = json.find_string(key, 64);
  if (!text) return std::nullopt;
  const auto span = parse_duration(*text);
  if (span && *span <= most) return *span;
  json.refuse(key, "must be a duration of at most " + duration_text(most));
  return std::nullopt;
}

wire::TaskAction read_action(http::JsonReader& json) {
  const int given = int{json.has("argv")} + int{json.has("shell")} + int{json.has("echo")};
  if (given != 1) json.refuse("argv", "exactly one of `argv`, `shell` and `echo` must be given");
  auto argv = json.find_strings("argv", wire::max_arguments);
  auto shell = json.find_string("shell", wire::max_argument_bytes);
  auto echo = json.find_string("echo", wire::max_echo_bytes);
  if (shell) return wire::ShellAction{std::move(*shell)};
  if (echo) return wire::EchoAction{std::move(*echo)};
  return wire::ArgvAction{std::move(argv)};
}

Selector read_selector(http::JsonReader& json) {
  Selector selector;
  auto object = json.find_object("selector");
  if (!object) return selector;
  const auto find_name = [&object](std::string_view key) {
    const auto name = object->find_string(key, 64);
    // Not "any": whoever writes an empty name meant a variable that is unset.
    if (name && name->empty()) object->refuse(key, "must not be empty");
    return name.value_or("");
  };
  selector.node = find_name("node");
  selector.pool = find_name("pool");
  for (auto& [name, value] : object->find_string_map("labels", 32)) {
    if (name.empty()) object->refuse("labels", "a label has no name");
    selector.labels.emplace(name, value);
  }
  return selector;
}

void read_isolation(http::JsonReader& json, TaskOrder& order) {
  const auto word = json.find_string("isolation", 16);
  if (!word) return;
  const auto level = wire::parse_isolation(*word);
  if (level) {
    order.isolation = *level;
  } else {
    json.refuse("isolation", "must be trusted, native, oci or vm");
  }
}

void read_target(http::JsonReader& json, TaskOrder& order) {
  const auto text = json.find_string("target", 128);
  if (!text) return;
  const auto target = wire::Target::parse(*text);
  if (target && target->kind() == wire::TargetKind::workspace) {
    order.workspace = target->name();
  } else {
    json.refuse("target", "must be of the form workspace:<name>");
  }
}

void read_trace(http::JsonReader& json, TaskOrder& order) {
  const auto text = json.find_string("traceparent", 256);
  if (!text) return;
  const auto trace = wire::TraceContext::parse(*text);
  if (trace) {
    order.trace = *trace;
  } else {
    json.refuse("traceparent", "must be a W3C trace context");
  }
}

std::optional<wire::UserOrder> find_order(ByteView envelope) {
  const auto parsed = wire::parse_envelope(envelope);
  if (!parsed) return std::nullopt;
  auto order = wire::parse_user_order(parsed->payload);
  return order ? std::optional(std::move(*order)) : std::nullopt;
}

// What a person signed says all that decides what runs; beside it there is only how long to wait.
void read_signed(http::JsonReader& json, TaskOrder& order) {
  auto bytes = parse_base64(json.find_string("user_order", max_task_body_bytes).value_or(""));
  auto signed_order = bytes ? find_order(*bytes) : std::nullopt;
  if (!signed_order) return json.refuse("user_order", "must be the base64 of a signed order");
  auto& task = signed_order->task;
  order.action = std::move(task.action);
  order.selector.node = task.audience.text();
  order.workspace = std::move(task.workspace);
  order.cwd = std::move(task.cwd);
  order.env = std::move(task.env);
  order.timeout = task.timeout;
  order.term_grace = task.term_grace;
  order.isolation = task.isolation;
  order.has_stdin = signed_order->has_stdin;
  order.is_interactive = task.is_interactive;
  order.user_order = std::move(*bytes);
}

void read_unsigned(http::JsonReader& json, TaskOrder& order) {
  order.action = read_action(json);
  order.selector = read_selector(json);
  order.cwd = json.find_string("cwd", wire::max_cwd_bytes).value_or("");
  for (auto& [name, value] : json.find_string_map("env", wire::max_env_vars)) {
    order.env.push_back({std::move(name), std::move(value)});
  }
  order.timeout = find_duration(json, "timeout", wire::max_task_timeout);
  order.term_grace = find_duration(json, "term_grace", wire::max_term_grace);
  order.has_stdin = json.find_boolean("stdin").value_or(false);
  order.is_interactive = json.find_boolean("interactive").value_or(false);
  read_isolation(json, order);
  read_target(json, order);
}

}  // namespace

Result<TaskOrder> parse_task_order(ByteView text) {
  OUTHAUL_TRY(json, http::JsonReader::parse(text));
  TaskOrder order;
  if (json.has("user_order")) {
    read_signed(json, order);
  } else {
    read_unsigned(json, order);
  }
  order.queue_timeout = find_duration(json, "queue_timeout", max_queue_timeout);
  read_trace(json, order);
  OUTHAUL_CHECK(json.finish());
  return order;
}

}  // namespace outhaul::hub
