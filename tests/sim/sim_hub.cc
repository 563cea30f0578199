#include "tests/sim/sim_hub.h"

#include "audit/head.h"
#include "hub/restore.h"
#include "store/memory_tables.h"
#include "transport/carrier.h"

namespace outhaul::sim {
namespace {

constexpr Duration restart_after = std::chrono::seconds(1);

hub::HubSettings make_settings() {
  hub::HubSettings settings;
  settings.deployment = SimDeployment::name();
  settings.node_certificate_lifetime = SimDeployment::certificate_lifetime;
  settings.files = SimDeployment::small_files;
  return settings;
}

}  // namespace

// In the order of need; the process outlives everything that refers to its io_context.
struct SimHub::Life {
  Life(SimHub& machine, std::uint64_t seed)
      : process(testing::SimProcess::make(machine.stage_.world, "hub", machine.skew_)),
        random(seed),
        sink(machine.stage_.trace, "hub"),
        log("hub", process->clock(), sink, Log::Format::text),
        database(process->executor(), process->clock(), machine.storage_),
        disk(machine.image_, process->executor(), process->clock()),
        hub({process->executor(), process->clock(), random, database, disk, log}, make_settings(),
            machine.stage_.deployment.hub_keys()),
        group(process->executor()) {}

  std::shared_ptr<testing::SimProcess> process;
  testing::SeededRandom random;
  TraceSink sink;
  Log log;
  store::MemoryDatabase database;
  stream::MemoryDisk disk;
  hub::Hub hub;
  TaskGroup group;
  bool is_serving = false;
};

SimHub::SimHub(const Stage& stage, std::uint64_t seed, std::function<void(const HubLife&)> on_up)
    : stage_(stage),
      random_(seed),
      on_up_(std::move(on_up)),
      storage_(SimDeployment::name(), stage.world.wall_now()),
      saved_storage_(SimDeployment::name(), stage.world.wall_now()) {
  stage_.deployment.fill(storage_);
}

SimHub::~SimHub() {
  if (life_) crash(Death::killed);
}

void SimHub::boot() {
  if (life_) return;
  stage_.trace.say("hub", "boots");
  life_ = std::make_unique<Life>(*this, random_.below(UINT64_MAX));
  apply_faults();
  auto& life = *life_;
  life.group.spawn([this, &life] { return live(life); });
  life.process->drain();
}

Task<void> SimHub::live(Life& life) {
  const auto started = co_await life.hub.start();
  if (!started) {
    stage_.trace.say("hub", "does not start: " + started.error().what());
    co_return boot_again();
  }
  check_audit();
  life.is_serving = true;
  ++serving_lives_;
  stage_.network.listen("hub", life.process, SimDeployment::spki(),
                        [&life](auto carrier) { life.hub.attach(std::move(carrier)); });
  stage_.desk = {life.process, &life.hub, &life.group};
  on_up_({life.hub, life.process->clock(), life.group});
  const auto failure = co_await life.hub.wait_failed();
  stage_.trace.say("hub", "gives up: " + failure.what());
  boot_again();
}

// As its supervisor: what is left of the process ends, and a new one is tried.
void SimHub::boot_again() {
  auto again = [this, process = std::weak_ptr(life_->process)] {
    if (process.expired()) return;
    crash(Death::killed);
    boot();
  };
  stage_.world.at(stage_.world.now() + restart_after, std::move(again));
}

void SimHub::check_audit() { stage_.audit.check(audit::hub_log_name(SimDeployment::name()), image_); }

void SimHub::crash(Death death) {
  if (!life_) return;
  stage_.trace.say("hub", death == Death::killed ? "is killed" : "loses power");
  using InFlight = store::MemoryDatabase::InFlight;
  life_->database.crash(random_.below(2) == 0 ? InFlight::lost : InFlight::kept);
  life_->disk.deaden();
  stage_.network.deaden(*life_->process, death);
  bury();
  if (death == Death::no_power) image_.lose_power(random_);
}

void SimHub::restore() {
  crash(Death::killed);
  stage_.trace.say("hub", "is restored from a backup");
  storage_.tables().copy_rows(saved_storage_.tables());
  image_ = saved_image_.copy();
  const auto marked = storage_.change([this](store::Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(hub::mark_restored(tx, wall_now()));
    return {};
  });
  if (!marked) return stage_.verdict.fail("a_backup_is_restored", marked.error().what());
  boot();
}

void SimHub::bury() {
  stage_.desk = {};
  life_->process->destroy_frames();
  life_.reset();
}

void SimHub::restart_in_order() {
  if (!life_ || !life_->is_serving) return;
  stage_.trace.say("hub", "ends in order");
  auto& life = *life_;
  life.is_serving = false;
  stage_.desk = {};
  life.group.spawn([this, &life] { return end_in_order(life); });
  life.process->drain();
}

Task<void> SimHub::end_in_order(Life& life) {
  co_await life.hub.join();
  co_await life.database.close();
  auto again = [this, process = std::weak_ptr(life.process)] {
    if (process.expired()) return;
    crash(Death::killed);
    boot();
  };
  stage_.world.at(stage_.world.now(), std::move(again));
}

hub::Hub* SimHub::serving() const { return life_ && life_->is_serving ? &life_->hub : nullptr; }

void SimHub::with_life(const std::function<void(const HubLife&)>& action) {
  if (serving() == nullptr) return;
  action({life_->hub, life_->process->clock(), life_->group});
  life_->process->drain();
}

std::uint64_t SimHub::activity() const { return life_ ? life_->process->drains() : 0; }

store::MemoryDatabase* SimHub::database() const { return life_ ? &life_->database : nullptr; }

void SimHub::set_skew(std::chrono::nanoseconds skew) {
  skew_ = skew;
  if (life_) life_->process->clock().set_skew(skew);
}

void SimHub::apply_faults() {
  if (life_) life_->disk.faults = disk_faults_;
}

}  // namespace outhaul::sim
