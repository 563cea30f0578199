// LauncherClient: the ProcessLauncher that speaks with outhaul-launcher. It starts the launcher when none
// lives on the socket of the data directory, and again when it died: then the processes it had are `lost`,
// and the new launcher ends what is left of them.
//   runs on   the strand of its executor
//   end       close() first; every Process it gave is destroyed before it
#pragma once

#include <array>

#include "base/async_clock.h"
#include "base/task_group.h"
#include "sandbox/launcher_process.h"
#include "sandbox/launcher_socket.h"
#include "sandbox/launcher_starter.h"

namespace outhaul::sandbox {

class LauncherClient final : public ProcessLauncher, public LauncherPort {
 public:
  // `clock` outlives it.
  LauncherClient(Executor executor, AsyncClock& clock, LauncherSettings settings);

  Task<Result<std::vector<std::unique_ptr<Process>>>> attach() override;
  Result<std::unique_ptr<Process>> start(const ProcessSpec& spec) override;
  std::string_view containment() const override;
  bool is_answering() const override { return missed_pings_ < max_missed_pings; }
  // Leaves the launcher; processes go on.
  Task<void> close();
  // For its processes.
  void send(Bytes packet) override;
  void release(std::uint32_t slot, bool forgotten) override;
  // 0 before attach().
  int launcher_process_id() const { return launcher_process_id_; }

  // A stopped launcher is noticed after two to three intervals, and a continued one at its first word.
  static constexpr std::chrono::seconds ping_interval{5};
  static constexpr int max_missed_pings = 2;

 private:
  struct Slot {
    LauncherProcess* process = nullptr;  // null: nobody holds its handle
    bool is_taken = false;               // the launcher has a record, or is about to
    bool is_confirmed = false;           // this connection's launcher spoke of it
  };

  Result<void> open();
  Task<void> serve();
  Task<void> open_again();
  Task<void> watch();
  void note_answer(int missed_pings);
  void take_packet(const LauncherPacket& packet);
  void take_snapshot(const launcher::TaskSnapshot& snapshot, int descriptor);
  void take_listed();
  void lose_processes();
  std::optional<std::uint32_t> find_free_slot() const;
  AsyncClock& clock_;
  LauncherStarter starter_;
  LauncherSocket socket_;
  Event listed_;
  std::vector<std::unique_ptr<Process>> adopted_;  // between hello and `listed`
  std::array<Slot, launcher::max_tasks> slots_{};
  launcher::Containment containment_ = launcher::Containment::subreaper;
  int launcher_process_id_ = 0;
  bool has_heard_ = true;  // since the last ping
  int missed_pings_ = 0;
  TaskGroup group_;
};

}  // namespace outhaul::sandbox
