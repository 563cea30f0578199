// TaskSpec: one signed task as the rest of the program reads it. The bytes that were signed are the
// truth; this value is read from them after the signature held and is never re-serialised to be trusted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "crypto/envelope.h"
#include "wire/target.h"
#include "wire/trace_context.h"

namespace outhaul::wire {

inline constexpr std::string_view task_payload_type = "application/vnd.outhaul.task.v1+protobuf";

// Limits of a task; each is checked by parse_task_spec and by the hub before it signs.
inline constexpr std::size_t max_envelope_bytes = 256 * 1024;
inline constexpr std::size_t max_arguments = 4096;
inline constexpr std::size_t max_argument_bytes = 128 * 1024;  // Linux MAX_ARG_STRLEN, one argument or line
inline constexpr std::size_t max_env_vars = 512;
inline constexpr std::size_t max_env_name_bytes = 128;
inline constexpr std::size_t max_cwd_bytes = 1024;
inline constexpr std::size_t max_echo_bytes = 64 * 1024;
inline constexpr std::size_t task_nonce_bytes = 16;
inline constexpr std::chrono::nanoseconds max_task_timeout = std::chrono::hours(24 * 30);
inline constexpr std::chrono::nanoseconds max_term_grace = std::chrono::minutes(10);
// From issue to expiry.
inline constexpr std::chrono::nanoseconds max_task_validity = std::chrono::hours(24);

// Superseded work is told by it; ordered by epoch, then generation.
struct Fence {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;
  auto operator<=>(const Fence&) const = default;
};

struct ArgvAction {
  std::vector<std::string> argv;  // 1..max_arguments, the first not empty
  bool operator==(const ArgvAction&) const = default;
};
struct ShellAction {
  std::string line;  // run as /bin/sh -c; not empty
  bool operator==(const ShellAction&) const = default;
};
struct EchoAction {
  std::string text;  // nothing is spawned
  bool operator==(const EchoAction&) const = default;
};
using TaskAction = std::variant<ArgvAction, ShellAction, EchoAction>;

struct EnvVar {
  std::string name;  // [A-Za-z_][A-Za-z0-9_]*
  std::string value;
  bool operator==(const EnvVar&) const = default;
};

// From least to most; a task names the least it needs.
enum class IsolationLevel : std::uint8_t { trusted, native, oci, vm };
std::string_view name_of(IsolationLevel level);
Result<IsolationLevel> parse_isolation(std::string_view text);

struct TaskSpec {
  TaskId task_id;
  std::string issuer;  // the deployment's DNS name
  NodeId audience;
  AccountId owner;
  WallTime issued_at;
  WallTime expires_at;
  Bytes nonce;  // task_nonce_bytes
  Fence fence;
  std::string workspace = "default";  // target workspace:<name>
  TaskAction action = EchoAction{};
  std::string cwd;          // relative, normal (no "." or ".." or empty part); empty = the workspace itself
  std::vector<EnvVar> env;  // names are unique
  std::optional<std::chrono::nanoseconds> timeout;  // from the start of the process
  IsolationLevel isolation = IsolationLevel::trusted;
  StreamId stream_id;
  std::optional<StreamId> stdin_stream_id;  // none = end of file at once
  std::chrono::nanoseconds term_grace{std::chrono::seconds(10)};
  std::optional<TraceContext> trace;
  bool is_interactive = false;
  Bytes user_order;  // a serialised envelope (wire/user_order.h); empty: no person has signed
  bool operator==(const TaskSpec&) const = default;
};

// Reads the payload of a task envelope. Fails with `task_malformed`; the message names the field and the
// rule and never repeats a value. Text fields hold no NUL byte.
Result<TaskSpec> parse_task_spec(ByteView serialised);
Bytes serialise_task_spec(const TaskSpec& spec);
// The same rules for a spec that our own code filled in, before it is signed. `invalid` with the field.
Result<void> check_task_spec(const TaskSpec& spec);

// The wire form of an envelope (outhaul.v1.Envelope). parse fails with task_too_large over
// max_envelope_bytes, else with task_malformed.
Result<crypto::SignedEnvelope> parse_envelope(ByteView serialised);
Bytes serialise_envelope(const crypto::SignedEnvelope& envelope);

// The serialised envelope over `spec`. Fails as check_task_spec, and with task_too_large.
Result<Bytes> sign_task(const TaskSpec& spec, const KeyId& key_id, const crypto::SigningKey& key);
// The spec inside, when a signature by one of `keys` over exactly these bytes holds. Looks at nothing
// else: no time, audience or replay (that is TaskGate). Used by a hub that adopts its own task.
Result<TaskSpec> open_task_envelope(ByteView serialised, std::span<const crypto::TrustedKey> keys);

}  // namespace outhaul::wire
