// ProcessLauncher: the port through which a node runs programs. What it starts survives the node; a
// restarted node finds it again with attach(), with output from the first byte it had not consumed.
//   runs on   one strand; Events are pulsed on it
//   adapters  sandbox/launcher_client.h (the real one), testing/memory_launcher.h
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/event.h"
#include "base/ids.h"
#include "base/task.h"
#include "launcher/descriptor.h"

namespace outhaul::sandbox {

// What a program may use; 0 = as the node itself.
struct ProcessLimits {
  std::uint64_t open_files = 0;
  std::uint64_t core_bytes = 0;  // here 0 means: no core file
};

using launcher::Descriptor;
using SharedDescriptor = std::shared_ptr<const Descriptor>;

// What runs as it was held, whatever its path names by now. Each may be null.
struct HeldFiles {
  struct Argument {
    std::size_t index;  // of argv; the program reads /dev/fd/N there
    SharedDescriptor file;
  };
  SharedDescriptor program;  // executed in place of argv[0], which stays its name
  SharedDescriptor directory;
  std::vector<Argument> arguments;  // at most max_held_arguments
};

struct ProcessSpec {
  TaskId task;                           // started at most once per launcher, whoever asks
  std::vector<std::string> argv;         // 1..; argv[0] without a slash is looked up in PATH of `environment`
  std::vector<std::string> environment;  // NAME=value; all of it, nothing is inherited
  std::string directory;                 // absolute
  bool has_stdin = false;                // false: standard input is at its end at once
  ProcessLimits limits;
  HeldFiles held;
  Duration pipe_grace = std::chrono::seconds(2);  // from the exit to the end of who still holds a pipe
};

enum class ProcessState {
  starting,
  running,
  exited,  // the program ended; its pipes or children have not
  ended,   // nothing is left; what output there is can be peeked
  failed,  // it was never executed; `failure` says why
  lost,    // the launcher died and took the record of the end with it
};

struct ProcessStatus {
  ProcessState state = ProcessState::starting;
  std::optional<Error>
      failure;  // program_not_found, program_not_executable, directory_unavailable, spawn_failed
  int process_id = 0;
  int exit_code = 0;  // meaningful when signal is 0
  int signal = 0;
  std::uint32_t processes_killed = 0;
  std::string pipe_holder;  // "name[pid]"; empty: nobody held a pipe past the grace
  WallTime started_at;
  WallTime ended_at;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds user_cpu{0};
  std::chrono::nanoseconds system_cpu{0};
  std::int64_t max_rss_bytes = 0;
  std::uint64_t stdin_applied = 0;  // bytes the program's pipe has taken
  bool stdin_closed = false;        // it takes no more

  // No further change and no further output will come.
  bool is_final() const { return state >= ProcessState::ended; }
};

enum class OutputKind : std::uint8_t { out = 1, err = 2 };

struct OutputChunk {
  OutputKind kind;
  std::uint64_t offset;  // payload bytes of all earlier chunks of this process, both kinds together
  WallTime time;         // when it was read from the pipe
  ByteView bytes;        // 1..65536; valid until it is given back
};

// One program. Destroying it neither ends the program nor forgets it.
class Process {
 public:
  virtual ~Process() = default;
  virtual const TaskId& task() const = 0;
  virtual const ProcessStatus& status() const = 0;
  // Set whenever status, output or room for stdin may have changed. Reset it, look, then wait.
  virtual Event& changed() = 0;

  // The oldest chunk not consumed; empty when there is none now. When the state is final and this is
  // empty, there will be none.
  virtual std::optional<OutputChunk> peek_output() = 0;
  // The one that is `index` places behind the oldest; empty when it has not come.
  virtual std::optional<OutputChunk> peek_output_at(std::size_t index) = 0;
  // Gives back the oldest chunk: only after its bytes are written down, for no one else has them.
  virtual void consume_output() = 0;

  // Offers stdin bytes [offset, offset + size). What lies before status().stdin_applied is skipped;
  // what the pipe does not take is dropped: offer it again from stdin_applied when `changed` is set.
  // At most one offer is under way: a second one before the answer is ignored and gives false.
  virtual bool offer_stdin(std::uint64_t offset, ByteView bytes) = 0;
  // End of file once `offset` bytes are applied.
  virtual void close_stdin(std::uint64_t offset) = 0;

  // To the program alone.
  virtual void send_signal(int signal) = 0;
  // `signal` to the whole tree now, SIGKILL to what is left after `grace`. May be repeated; only shortens.
  virtual void end_tree(int signal, Duration grace) = 0;
  // Drops the record of an ended process: it will not be found by attach() again. The last call.
  virtual void forget() = 0;
};

class ProcessLauncher {
 public:
  virtual ~ProcessLauncher() = default;
  // Finds the living launcher or starts one; gives every process it knows. Called once, first.
  //   errors  unavailable: it cannot be started; the system's reason is in the message
  virtual Task<Result<std::vector<std::unique_ptr<Process>>>> attach() = 0;
  // Asks for a start and returns at once; the outcome comes as status. Never starts one task twice.
  //   errors  exhausted: max_processes known already. too_large: argv and environment over
  //           max_spec_bytes. unavailable: no launcher now; nothing was started
  virtual Result<std::unique_ptr<Process>> start(const ProcessSpec& spec) = 0;
  // How trees are kept together, for the manifest: "cgroup" or "subreaper".
  virtual std::string_view containment() const = 0;
  // False while it lives and says nothing, for instance because somebody stopped it. What it holds goes on
  // and is not lost; nothing new is to be given to it.
  virtual bool is_answering() const { return true; }

  static constexpr std::size_t max_processes = 1024;
  static constexpr std::size_t max_spec_bytes = 128 * 1024;
  static constexpr std::size_t max_held_arguments = 4;
};

}  // namespace outhaul::sandbox
