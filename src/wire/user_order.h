// UserOrder: what a person signs before any hub sees it, so that a node which asks for it runs only what that
// person meant, whoever holds the hub's keys.
//
// It is a task with the person's own times and nonce. What only a hub can fill in is listed by name
// (find_difference); everything else must be equal, also what a later version adds to a task.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "crypto/envelope.h"
#include "wire/task_spec.h"

namespace outhaul::wire {

inline constexpr std::string_view user_order_payload_type = "application/vnd.outhaul.user-order.v1+protobuf";

struct UserOrder {
  // Its task_id and stream_id mean nothing and are not sent.
  TaskSpec task;
  // As the person named the node; empty: by its id, or the choice was left to the hub and then read by the
  // person's own program. It is the node that compares: the hub may have given the id of another.
  std::string node_name;
  bool has_stdin = false;
  bool operator==(const UserOrder&) const = default;
};

// An order for the task without the ids that a hub makes.
UserOrder make_user_order(TaskSpec task);

// Reads the payload. Fails with `task_malformed`, as parse_task_spec, and when it holds what only a hub fills
// in.
Result<UserOrder> parse_user_order(ByteView serialised);
Bytes serialise_user_order(const UserOrder& order);

// The serialised envelope. Fails as check_task_spec, and with task_too_large.
Result<Bytes> sign_user_order(const UserOrder& order, const crypto::SigningKey& key);

// A person whom the verifier trusts.
struct TrustedUser {
  crypto::TrustedKey key;
  AccountId account;  // the only one that the key may order for; empty: any
};

struct SignedOrder {
  UserOrder order;
  KeyId key_id;
};

// The order in the envelope, when one of `users` has signed it and may order for its account.
//   errors  user_signature_missing: empty. user_signature_invalid: anything else
Result<SignedOrder> open_user_order(ByteView serialised, std::span<const TrustedUser> users);

// What the hub's task has different from the order, as a word for a person; empty: nothing. Times are judged
// elsewhere.
std::optional<std::string> find_difference(const UserOrder& order, const TaskSpec& task);

}  // namespace outhaul::wire
