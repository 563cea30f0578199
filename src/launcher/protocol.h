// What a node and its launcher say to each other: fixed layouts in the packets of a Unix SOCK_SEQPACKET
// socket between two programs of one build on one machine, so the byte order is the machine's own.
//
// The launcher answers with snapshots and not with events: one TaskSnapshot holds everything it knows of a
// task, so a late, merged or repeated one does no harm and a client that connects again needs nothing more.
// Output never crosses the socket; it lies in the task's ring (ring.h), whose descriptor comes once with
// a snapshot (SCM_RIGHTS) on each connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace outhaul::launcher {

inline constexpr std::uint16_t protocol_version = 2;
inline constexpr std::uint32_t max_tasks = 1024;             // slots; known tasks at once, ended ones too
inline constexpr std::size_t max_packet_bytes = 160 * 1024;  // below the kernel's default send buffer
inline constexpr std::size_t max_stdin_bytes = 64 * 1024;    // of one StdinRequest
inline constexpr std::size_t task_id_bytes = 40;             // with the NUL that ends it
inline constexpr std::size_t max_limits = 8;
inline constexpr std::uint32_t max_files = 8;  // descriptors that come with a spawn

enum class PacketKind : std::uint16_t {
  // From the client.
  hello = 1,       // PacketHeader alone; the first packet of a connection
  spawn = 2,       // SpawnRequest, then the strings; with descriptors (SCM_RIGHTS)
  signal = 3,      // SignalRequest
  end_tree = 4,    // EndRequest
  stdin_data = 5,  // StdinRequest, then the bytes
  stdin_end = 6,   // StdinRequest: end of file once everything before `offset` is written
  room = 7,        // PacketHeader alone: the ring was full and now has room
  forget = 8,      // PacketHeader alone: an ended task's slot is free again
  ping = 9,        // PacketHeader alone
  // From the launcher.
  welcome = 64,   // Welcome; then one snapshot for each known task, then `listed`
  snapshot = 65,  // TaskSnapshot; with the ring's descriptor the first time
  listed = 66,    // PacketHeader alone
  pong = 67,      // PacketHeader alone: the answer to a ping
};

struct PacketHeader {
  PacketKind kind;
  std::uint16_t version = protocol_version;
  std::uint32_t bytes = 0;  // of the whole packet
  std::uint32_t slot = 0;   // 0..max_tasks-1, chosen by the client; 0 where it means nothing
  std::uint32_t reserved = 0;
};

// One setrlimit() of the new process.
struct Limit {
  std::uint32_t resource;
  std::uint32_t reserved = 0;
  std::uint64_t soft;
  std::uint64_t hard;
};

// Given to programs that no cgroup holds, with the launcher's tag as value: how the next launcher finds what
// one that was killed has left behind.
inline constexpr char marker_variable[] = "OUTHAUL_LAUNCHER";

inline constexpr std::uint32_t spawn_with_stdin = 1;  // a pipe; without it standard input is at its end
// The first descriptor is executed in place of the first argument, which stays the program's name.
inline constexpr std::uint32_t spawn_executes_file = 2;
// The last descriptor is the working directory; the program does not keep it. It has all others, from here
// on.
inline constexpr std::uint32_t spawn_in_held_directory = 4;
inline constexpr int first_file_descriptor = 3;

// Followed by `string_bytes` of NUL-ended strings: the working directory (absolute), argument_count
// arguments (at least one), environment_count of NAME=value. A task that is known is never spawned
// again: the new slot is `failed` with EEXIST, and a slot in use answers with what it holds.
struct SpawnRequest {
  PacketHeader header;
  char task_id[task_id_bytes];
  std::uint32_t flags;
  std::int32_t nice;            // added to the launcher's own
  std::uint32_t pipe_grace_ms;  // from the exit to the end of whoever still holds a pipe
  std::uint32_t limit_count;
  Limit limits[max_limits];
  std::uint32_t argument_count;
  std::uint32_t environment_count;
  std::uint32_t string_bytes;
  std::uint32_t file_count;  // 0..max_files
};

// To the program alone, not to its children.
struct SignalRequest {
  PacketHeader header;
  std::int32_t signal;
  std::uint32_t reserved;
};

// To the whole tree; SIGKILL to what is left of it after the grace. A second request may only shorten it.
struct EndRequest {
  PacketHeader header;
  std::int32_t signal;
  std::uint32_t grace_ms;
};

// Bytes before the snapshot's stdin_applied are skipped. What the pipe does not take now is not kept: the
// snapshot that counts this request in stdin_answers says how far the bytes got, and comes when there is
// room again.
struct StdinRequest {
  PacketHeader header;
  std::uint64_t offset;  // of the first byte in the whole of standard input
};

enum class Containment : std::uint32_t {
  cgroup = 1,     // a cgroup (version 2) a task: nothing escapes
  subreaper = 2,  // a supervisor a task: nothing escapes that leaves the supervisor alive
};

struct Welcome {
  PacketHeader header;
  Containment containment;
  std::int32_t process_id;
};

enum class TaskState : std::uint32_t {
  free = 0,
  starting = 1,  // a supervisor has not said yet
  running = 2,
  exited = 3,  // the program ended; its pipes or its children have not
  ended = 4,   // nothing is left, every byte is in the ring
  failed = 5,  // it was never executed: spawn_error, spawn_stage
};

enum class SpawnStage : std::uint32_t {
  none = 0,
  resources = 1,  // descriptors, processes, memory
  directory = 2,  // the working directory
  limits = 3,
  execute = 4,
};

struct TaskSnapshot {
  PacketHeader header;
  char task_id[task_id_bytes];
  TaskState state;
  SpawnStage spawn_stage;
  std::int32_t spawn_error;  // errno
  std::int32_t process_id;
  std::int32_t wait_status;        // as of wait(2); from `exited` on
  std::uint32_t processes_killed;  // signalled by end_tree or after the exit, the program included
  std::uint32_t has_ring;          // 1: a descriptor came with this or an earlier packet
  std::uint32_t stdin_closed;      // 1: it takes no more (ended, or the program closed it)
  std::uint32_t stdin_answers;     // stdin_data requests that are done with; the next may be sent
  std::uint32_t reserved;
  std::uint64_t stdin_applied;  // bytes that are in the pipe
  std::int64_t started_at_ns;   // wall time
  std::int64_t ended_at_ns;     // wall time of the exit
  std::int64_t duration_ns;     // monotonic, start to exit
  std::int64_t user_cpu_ns;     // the program and the children it waited for
  std::int64_t system_cpu_ns;
  std::int64_t max_rss_bytes;
  char pipe_holder[task_id_bytes];  // "name[pid]" that held a pipe when the grace was over; else empty
};

static_assert(sizeof(PacketHeader) == 16);
static_assert(sizeof(SpawnRequest) == 16 + 40 + 16 + 24 * max_limits + 16);
static_assert(sizeof(TaskSnapshot) == 16 + 40 + 40 + 56 + 40);

}  // namespace outhaul::launcher
