#include "wire/user_order.h"

#include <utility>
#include <vector>

#include "crypto/user_key.h"
#include "outhaul/v1/task.pb.h"
#include "wire/target.h"

namespace outhaul::wire {
namespace {

// Stand for the ids that a hub makes, so that an order obeys every rule of a task.
constexpr const char* no_task = "task_00000000000000000000000000";
constexpr const char* no_stream = "str_00000000000000000000000000";

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorCode::task_malformed, std::string("order: ") + what);
}

std::unexpected<Error> not_signed(std::string why) {
  return fail(ErrorCode::user_signature_invalid, "the person's signature: " + std::move(why));
}

bool holds_what_a_hub_fills_in(const v1::TaskSpec& task) {
  return !task.task_id().empty() || !task.stream_id().empty() || !task.stdin_stream_id().empty() ||
         task.has_fence() || !task.traceparent().empty() || !task.user_order().empty();
}

}  // namespace

UserOrder make_user_order(TaskSpec task) {
  UserOrder order;
  order.has_stdin = task.stdin_stream_id.has_value();
  task.task_id = TaskId::assume(no_task);
  task.stream_id = StreamId::assume(no_stream);
  task.stdin_stream_id.reset();
  task.fence = {};
  task.trace.reset();
  task.user_order.clear();
  order.task = std::move(task);
  return order;
}

Result<UserOrder> parse_user_order(ByteView serialised) {
  v1::UserOrder message;
  if (serialised.size() > max_envelope_bytes ||
      !message.ParseFromArray(serialised.data(), static_cast<int>(serialised.size()))) {
    return malformed("not a message of this kind");
  }
  auto& task = *message.mutable_task();
  if (holds_what_a_hub_fills_in(task)) return malformed("it holds what only a hub fills in");
  if (!message.node_name().empty() && !Target::make(TargetKind::tool, message.node_name()))
    return malformed("node_name is no name of a node");
  task.set_task_id(no_task);
  task.set_stream_id(no_stream);
  OUTHAUL_TRY(spec, parse_task_spec(task.SerializeAsString()));
  return UserOrder{std::move(spec), message.node_name(), message.has_stdin()};
}

Bytes serialise_user_order(const UserOrder& order) {
  v1::UserOrder message;
  auto& task = *message.mutable_task();
  task.ParseFromString(serialise_task_spec(order.task));
  task.clear_task_id();
  task.clear_stream_id();
  task.clear_fence();
  message.set_node_name(order.node_name);
  message.set_has_stdin(order.has_stdin);
  return message.SerializeAsString();
}

Result<Bytes> sign_user_order(const UserOrder& order, const crypto::SigningKey& key) {
  OUTHAUL_CHECK(check_task_spec(order.task));
  const auto key_id = crypto::user_key_id(key.verify_key());
  auto signed_order = serialise_envelope(
      crypto::sign_envelope(user_order_payload_type, serialise_user_order(order), key_id, key));
  // The hub puts it into a task that says the same once more.
  if (signed_order.size() > max_envelope_bytes / 2) {
    return fail(Error(ErrorCode::task_too_large, "the task is larger than what can be signed by a person")
                    .with("limit_bytes", std::to_string(max_envelope_bytes / 2)));
  }
  return signed_order;
}

Result<SignedOrder> open_user_order(ByteView serialised, std::span<const TrustedUser> users) {
  if (serialised.empty()) {
    return fail(ErrorCode::user_signature_missing, "this node runs only what a person has signed");
  }
  const auto envelope = parse_envelope(serialised);
  if (!envelope) return not_signed("not in the form of one");
  std::vector<crypto::TrustedKey> keys;
  for (const auto& user : users) keys.push_back(user.key);
  const auto key_id = crypto::verify_envelope(*envelope, user_order_payload_type, keys);
  if (!key_id) return not_signed("none by a key that this node's owner trusts holds");
  auto order = parse_user_order(envelope->payload);
  if (!order) return not_signed("what is signed is no order of a known form");
  for (const auto& user : users) {
    const bool is_signer = user.key.key_id == *key_id;
    if (is_signer && (user.account.is_empty() || user.account == order->task.owner))
      return SignedOrder{std::move(*order), *key_id};
  }
  return not_signed("the key may not order for this account");
}

std::optional<std::string> find_difference(const UserOrder& order, const TaskSpec& task) {
  const TaskSpec& meant = order.task;
  if (meant.audience != task.audience) return "the node";
  if (meant.owner != task.owner || meant.issuer != task.issuer) return "the account";
  if (meant.action != task.action) return "the command";
  if (meant.env != task.env) return "the environment";
  if (meant.cwd != task.cwd || meant.workspace != task.workspace) return "the directory";
  if (order.has_stdin != task.stdin_stream_id.has_value()) return "whether there is an input";
  // All that the hub says; everything that is not here must be equal.
  TaskSpec as_meant = meant;
  as_meant.task_id = task.task_id;
  as_meant.issued_at = task.issued_at;
  as_meant.expires_at = task.expires_at;
  as_meant.nonce = task.nonce;
  as_meant.fence = task.fence;
  as_meant.stream_id = task.stream_id;
  as_meant.stdin_stream_id = task.stdin_stream_id;
  as_meant.trace = task.trace;
  as_meant.user_order = task.user_order;
  if (as_meant != task) return "a limit, the isolation or the way it is attended";
  return std::nullopt;
}

}  // namespace outhaul::wire
