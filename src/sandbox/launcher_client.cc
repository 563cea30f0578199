#include "sandbox/launcher_client.h"

#include <unistd.h>

#include <cstring>

#include "base/within.h"
#include "sandbox/spawn_packet.h"

namespace outhaul::sandbox {
namespace {

using launcher::PacketKind;

constexpr auto attach_within = std::chrono::seconds(10);
constexpr auto first_retry = std::chrono::milliseconds(50);
constexpr auto longest_retry = std::chrono::seconds(5);

std::string read_task_id(const launcher::TaskSnapshot& snapshot) {
  return {snapshot.task_id, strnlen(snapshot.task_id, sizeof snapshot.task_id)};
}

}  // namespace

LauncherClient::LauncherClient(Executor executor, AsyncClock& clock, LauncherSettings settings)
    : clock_(clock),
      starter_(std::move(settings)),
      socket_(executor),
      listed_(executor),
      group_(std::move(executor)) {}

Task<Result<std::vector<std::unique_ptr<Process>>>> LauncherClient::attach() {
  OUTHAUL_CO_CHECK(open());
  group_.spawn([this] { return serve(); });
  group_.spawn([this] { return socket_.flush(); });
  group_.spawn([this] { return watch(); });
  if (!co_await within(clock_, clock_.now() + attach_within, listed_.wait())) {
    co_return fail(ErrorCode::unavailable, "attach to the launcher: it does not answer");
  }
  co_return std::move(adopted_);
}

Task<void> LauncherClient::close() {
  group_.cancel();
  co_await group_.join();
  socket_.close();
}

Result<void> LauncherClient::open() {
  auto descriptor = starter_.connect();
  if (!descriptor && descriptor.error().code() == ErrorCode::not_found) {
    lose_processes();
    descriptor = starter_.start();
  }
  if (!descriptor) return fail(std::move(descriptor).error());
  socket_.open(*descriptor);
  for (Slot& slot : slots_) slot.is_confirmed = false;
  launcher::PacketHeader hello{PacketKind::hello, launcher::protocol_version, sizeof hello, 0, 0};
  socket_.send(Bytes(reinterpret_cast<const char*>(&hello), sizeof hello));
  return {};
}

Task<void> LauncherClient::serve() {
  for (;;) {
    while (auto packet = co_await socket_.receive()) take_packet(*packet);
    socket_.close();
    co_await open_again();
  }
}

// At once, then in growing steps. A launcher that lives (it dropped us) still has every process; they are
// lost only when it is gone.
Task<void> LauncherClient::open_again() {
  for (Duration pause = first_retry; !open(); pause = std::min<Duration>(pause * 2, longest_retry)) {
    co_await clock_.sleep_for(pause);
  }
}

// One ping at a time: the socket keeps it for as long as nobody reads it.
Task<void> LauncherClient::watch() {
  for (;;) {
    co_await clock_.sleep_for(ping_interval);
    if (!socket_.is_open() || !listed_.is_set()) continue;
    if (!has_heard_) {
      note_answer(missed_pings_ + 1);
      continue;
    }
    has_heard_ = false;
    const launcher::PacketHeader ping{PacketKind::ping, launcher::protocol_version, sizeof ping, 0, 0};
    socket_.send(Bytes(reinterpret_cast<const char*>(&ping), sizeof ping));
  }
}

void LauncherClient::note_answer(int missed_pings) {
  const bool before = is_answering();
  missed_pings_ = missed_pings;
  if (before != is_answering() && starter_.settings().on_answering) starter_.settings().on_answering(!before);
}

void LauncherClient::take_packet(const LauncherPacket& packet) {
  has_heard_ = true;
  note_answer(0);
  switch (packet.header().kind) {
    case PacketKind::welcome: {
      if (packet.bytes.size() < sizeof(launcher::Welcome)) return;
      const auto& welcome = reinterpret_cast<const launcher::Welcome&>(packet.header());
      containment_ = welcome.containment;
      launcher_process_id_ = welcome.process_id;
      return;
    }
    case PacketKind::snapshot:
      if (packet.bytes.size() < sizeof(launcher::TaskSnapshot)) return;
      return take_snapshot(reinterpret_cast<const launcher::TaskSnapshot&>(packet.header()),
                           packet.descriptor);
    case PacketKind::listed: return take_listed();
    default: return;
  }
}

void LauncherClient::take_snapshot(const launcher::TaskSnapshot& snapshot, int descriptor) {
  const std::uint32_t number = snapshot.header.slot;
  Slot& slot = slots_[number];
  if (slot.process == nullptr && !listed_.is_set()) {
    auto process = std::make_unique<LauncherProcess>(*this, group_.executor(),
                                                     TaskId::assume(read_task_id(snapshot)), number);
    slot = {process.get(), true, true};
    adopted_.push_back(std::move(process));
  }
  if (slot.process == nullptr) {
    if (descriptor >= 0) ::close(descriptor);
    return;
  }
  slot.is_confirmed = true;
  slot.process->take_snapshot(snapshot, descriptor);
}

// A start that was on its way when the connection broke was never read.
void LauncherClient::take_listed() {
  for (Slot& slot : slots_) {
    if (slot.process != nullptr && !slot.is_confirmed) slot.process->lose();
  }
  listed_.set();
}

void LauncherClient::lose_processes() {
  for (Slot& slot : slots_) {
    if (slot.process != nullptr) slot.process->lose();
    slot.is_taken = slot.process != nullptr;
  }
}

Result<std::unique_ptr<Process>> LauncherClient::start(const ProcessSpec& spec) {
  if (!socket_.is_open() || !listed_.is_set())
    return fail(ErrorCode::unavailable, "start: the launcher is away");
  const auto slot = find_free_slot();
  if (!slot) return fail(ErrorCode::exhausted, "start: the launcher knows its most processes already");
  SpawnPlace place{*slot, starter_.settings().nice, {}};
  // Without a cgroup this is how a later launcher knows what a dead one left behind.
  if (containment_ == launcher::Containment::subreaper)
    place.marker = std::string(launcher::marker_variable) + "=" + starter_.tag();
  OUTHAUL_TRY(packet, encode_spawn(spec, place));
  auto process = std::make_unique<LauncherProcess>(*this, group_.executor(), spec.task, *slot);
  slots_[*slot] = {process.get(), true, true};
  socket_.send(std::move(packet.bytes), std::move(packet.files));
  return process;
}

std::string_view LauncherClient::containment() const {
  return containment_ == launcher::Containment::cgroup ? "cgroup" : "subreaper";
}

std::optional<std::uint32_t> LauncherClient::find_free_slot() const {
  for (std::uint32_t slot = 0; slot < launcher::max_tasks; ++slot) {
    if (!slots_[slot].is_taken) return slot;
  }
  return std::nullopt;
}

void LauncherClient::send(Bytes packet) { socket_.send(std::move(packet)); }

void LauncherClient::release(std::uint32_t slot, bool forgotten) {
  slots_[slot] = {nullptr, !forgotten, false};
}

}  // namespace outhaul::sandbox
