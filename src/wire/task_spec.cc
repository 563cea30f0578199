#include "wire/task_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "outhaul/v1/task.pb.h"
#include "wire/task_spec_rules.h"

namespace outhaul::wire {
namespace {

constexpr std::array<std::string_view, 4> isolation_words = {"trusted", "native", "oci", "vm"};  // by level

std::unexpected<Error> malformed(const std::string& what) {
  return fail(ErrorCode::task_malformed, "task: " + what);
}

// `parsed` or "task: <field>: ..." without the value.
template <class T>
Result<T> field(const char* name, Result<T> parsed) {
  if (!parsed) return malformed(std::string(name) + " is not of its form");
  return parsed;
}

Result<TaskAction> action_of(const v1::TaskSpec& message) {
  switch (message.action_case()) {
    case v1::TaskSpec::kArgv:
      return TaskAction(ArgvAction{{message.argv().arg().begin(), message.argv().arg().end()}});
    case v1::TaskSpec::kShell: return TaskAction(ShellAction{message.shell()});
    case v1::TaskSpec::kEcho: return TaskAction(EchoAction{message.echo().text()});
    case v1::TaskSpec::ACTION_NOT_SET: break;
  }
  return malformed("no action that this version knows");
}

Result<void> read_identities(const v1::TaskSpec& message, TaskSpec& spec) {
  OUTHAUL_TRY(task_id, field("task_id", TaskId::parse(message.task_id())));
  OUTHAUL_TRY(audience, field("audience", NodeId::parse(message.audience())));
  OUTHAUL_TRY(owner, field("owner", AccountId::parse(message.owner())));
  OUTHAUL_TRY(stream_id, field("stream_id", StreamId::parse(message.stream_id())));
  spec.task_id = task_id;
  spec.issuer = message.issuer();
  spec.audience = audience;
  spec.owner = owner;
  spec.stream_id = stream_id;
  if (!message.stdin_stream_id().empty()) {
    OUTHAUL_TRY(stdin_stream_id, field("stdin_stream_id", StreamId::parse(message.stdin_stream_id())));
    spec.stdin_stream_id = stdin_stream_id;
  }
  return {};
}

Result<void> read_validity(const v1::TaskSpec& message, TaskSpec& spec) {
  spec.issued_at = {message.issued_at_ns()};
  spec.expires_at = {message.expires_at_ns()};
  spec.nonce = message.nonce();
  spec.fence = {message.fence().epoch(), message.fence().generation()};
  if (!message.traceparent().empty()) {
    OUTHAUL_TRY(trace, field("traceparent", TraceContext::parse(message.traceparent())));
    spec.trace = trace;
  }
  return {};
}

Result<void> read_run(const v1::TaskSpec& message, TaskSpec& spec) {
  OUTHAUL_TRY(target, field("target", ChannelTarget::parse(name_of(Plane::task), message.target())));
  OUTHAUL_TRY(action, action_of(message));
  OUTHAUL_TRY(isolation, field("isolation", parse_isolation(message.isolation())));
  spec.workspace = target.target().name();
  spec.action = std::move(action);
  spec.cwd = message.cwd();
  for (const auto& variable : message.env()) spec.env.push_back({variable.name(), variable.value()});
  if (message.timeout_ns() != 0) spec.timeout = std::chrono::nanoseconds(message.timeout_ns());
  spec.isolation = isolation;
  spec.term_grace = std::chrono::nanoseconds(message.term_grace_ns());
  spec.is_interactive = message.interactive();
  spec.user_order = message.user_order();
  return {};
}

void write_action(const TaskAction& action, v1::TaskSpec& message) {
  if (const auto* const argv = std::get_if<ArgvAction>(&action)) {
    for (const auto& argument : argv->argv) message.mutable_argv()->add_arg(argument);
  } else if (const auto* const shell = std::get_if<ShellAction>(&action)) {
    message.set_shell(shell->line);
  } else if (const auto* const echo = std::get_if<EchoAction>(&action)) {
    message.mutable_echo()->set_text(echo->text);
  }
}

void write_run(const TaskSpec& spec, v1::TaskSpec& message) {
  message.set_target(std::string(name_of(TargetKind::workspace)) + ":" + spec.workspace);
  write_action(spec.action, message);
  message.set_cwd(spec.cwd);
  for (const auto& variable : spec.env) {
    auto* const added = message.add_env();
    added->set_name(variable.name);
    added->set_value(variable.value);
  }
  if (spec.timeout) message.set_timeout_ns(spec.timeout->count());
  message.set_isolation(std::string(name_of(spec.isolation)));
  message.set_term_grace_ns(spec.term_grace.count());
  message.set_interactive(spec.is_interactive);
  message.set_user_order(spec.user_order);
}

}  // namespace

std::string_view name_of(IsolationLevel level) { return isolation_words.at(static_cast<std::size_t>(level)); }

Result<IsolationLevel> parse_isolation(std::string_view text) {
  const auto* const word = std::ranges::find(isolation_words, text);
  if (word == isolation_words.end()) return fail(ErrorCode::invalid, "isolation: trusted, native, oci or vm");
  return static_cast<IsolationLevel>(word - isolation_words.begin());
}

Result<TaskSpec> parse_task_spec(ByteView serialised) {
  v1::TaskSpec message;
  if (serialised.size() > max_envelope_bytes ||
      !message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) {
    return malformed("not a message of this kind");
  }
  TaskSpec spec;
  OUTHAUL_CHECK(read_identities(message, spec));
  OUTHAUL_CHECK(read_validity(message, spec));
  OUTHAUL_CHECK(read_run(message, spec));
  if (const auto fault = find_fault(spec)) return malformed(*fault);
  return spec;
}

Bytes serialise_task_spec(const TaskSpec& spec) {
  v1::TaskSpec message;
  message.set_task_id(spec.task_id.text());
  message.set_issuer(spec.issuer);
  message.set_audience(spec.audience.text());
  message.set_owner(spec.owner.text());
  message.set_issued_at_ns(spec.issued_at.nanoseconds);
  message.set_expires_at_ns(spec.expires_at.nanoseconds);
  message.set_nonce(spec.nonce);
  message.mutable_fence()->set_epoch(spec.fence.epoch);
  message.mutable_fence()->set_generation(spec.fence.generation);
  message.set_stream_id(spec.stream_id.text());
  if (spec.stdin_stream_id) message.set_stdin_stream_id(spec.stdin_stream_id->text());
  if (spec.trace) message.set_traceparent(spec.trace->text());
  write_run(spec, message);
  return message.SerializeAsString();
}

Result<void> check_task_spec(const TaskSpec& spec) {
  if (const auto fault = find_fault(spec)) return fail(ErrorCode::invalid, *fault);
  return {};
}

}  // namespace outhaul::wire
