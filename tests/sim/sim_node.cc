#include "tests/sim/sim_node.h"

#include <algorithm>
#include <csignal>

#include "base/within.h"
#include "node/consent/consent_desk.h"

namespace outhaul::sim {
namespace {

constexpr Duration restart_after = std::chrono::seconds(2);

constexpr Duration look_at_questions_every = std::chrono::seconds(3);

node::NodeSettings make_settings(std::uint32_t slots, const policy::Policy& policy) {
  node::NodeSettings settings;
  settings.policy = policy;
  settings.isolation = {wire::IsolationLevel::trusted};
  settings.slots = slots;
  settings.workspace = "/workspace";
  settings.disk_floor_bytes = 4096;
  settings.files = SimDeployment::small_files;
  return settings;
}

node::NodeFacts make_facts(std::uint64_t boot) {
  node::NodeFacts facts;
  facts.version = "0.1.0";
  facts.platform = "linux/amd64";
  facts.boot_id = "boot-" + std::to_string(boot);
  return facts;
}

}  // namespace

struct SimNode::Life {
  Life(SimNode& machine, std::uint64_t seed)
      : process(testing::SimProcess::make(machine.stage_.world, machine.name(), machine.skew_)),
        random(seed),
        sink(machine.stage_.trace, machine.name()),
        log("node", process->clock(), sink, Log::Format::text),
        disk(machine.image_, process->executor(), process->clock()),
        launcher(process->executor(), process->clock(), machine.machine_),
        renewal({machine.stage_.network, machine.stage_.desk, machine.identity(), machine.tls_}, process,
                machine.name()),
        dialer(machine.stage_.network.make_dialer(process, machine.name(), machine.identity().tls_uri(),
                                                  [this] { return renewal.shown(); })),
        node({process->executor(),
              process->clock(),
              random,
              disk,
              *dialer,
              launcher,
              log,
              &renewal,
              {&machine.owner_.lock_port(), &machine.owner_.files()}},
             {machine.identity().node(), SimDeployment::name(), &machine.identity(),
              machine.stage_.deployment.trusted_keys()},
             make_settings(machine.config_.slots, machine.owner_.policy()), make_facts(machine.lives_)),
        group(process->executor()) {}

  std::shared_ptr<testing::SimProcess> process;
  testing::SeededRandom random;
  TraceSink sink;
  Log log;
  stream::MemoryDisk disk;
  testing::MemoryLauncher launcher;
  SimRenewal renewal;
  std::unique_ptr<node::CarrierDialer> dialer;
  node::Node node;
  TaskGroup group;
  bool has_started = false;
};

SimNode::SimNode(const Stage& stage, Config config)
    : stage_(stage),
      config_(std::move(config)),
      random_(config_.seed),
      owner_(stage, config_.name, random_.below(UINT64_MAX)),
      book_(stage.programs, config_.identity->node(), owner_),
      tls_{config_.identity->tls_certificate(), {}} {
  machine_.watch(&book_);
}

SimNode::~SimNode() {
  if (life_) crash(Death::killed);
}

void SimNode::boot() {
  if (life_) return;
  stage_.trace.say(name(), "boots");
  ++lives_;
  life_ = std::make_unique<Life>(*this, random_.below(UINT64_MAX));
  apply_faults();
  auto& life = *life_;
  life.group.spawn([this, &life] { return live(life); });
  life.process->drain();
}

Task<void> SimNode::live(Life& life) {
  auto ended = co_await life.node.start();
  life.has_started = ended.has_value();
  // A copy has gone another way than what its original has told of itself.
  if (ended && !is_copy_) check_audit();
  if (ended) life.group.spawn([this, &life] { return attend_questions(life); });
  if (ended) ended = co_await life.node.run();
  if (ended) co_return;
  stage_.trace.say(name(), "gives up: " + ended.error().what());
  // Whoever keeps it does not start it again: it has ended what it ran.
  if (ended.error().code() == ErrorCode::node_removed) co_return;
  boot_again(restart_after);
}

Task<void> SimNode::attend_questions(Life& life) {
  for (;;) {
    co_await life.process->clock().sleep_for(look_at_questions_every);
    std::map<TaskId, node::Answer> answers;
    for (const auto& [task, question] : life.node.consents().questions()) {
      if (question.answer) continue;
      if (const auto answer = owner_.answer(question)) answers.emplace(task, *answer);
    }
    for (const auto& [task, answer] : answers) {
      const auto given = co_await life.node.answer(task, answer, "the owner");
      stage_.trace.say(name(), given ? "was answered" : "took no answer: " + given.error().what());
    }
  }
}

void SimNode::lock() {
  stage_.trace.say(name(), "is locked");
  owner_.lock();
  if (life_) {
    if (life_->has_started) life_->node.note_lock();
    life_->process->drain();
    return;
  }
  for (auto& [task, process] : machine_.processes()) {
    machine_.signal(process, SIGKILL, stage_.world.now(), stage_.world.wall_now() + skew_);
  }
}

void SimNode::unlock() {
  if (!owner_.is_locked()) return;
  stage_.trace.say(name(), "is unlocked");
  owner_.unlock();
  if (!life_ || !life_->has_started) return;
  life_->node.note_lock();
  life_->process->drain();
}

// As its supervisor: what is left of the process ends, and a new one is tried.
void SimNode::boot_again(Duration after) {
  auto again = [this, process = std::weak_ptr(life_->process)] {
    if (process.expired()) return;
    crash(Death::killed);
    boot();
  };
  stage_.world.at(stage_.world.now() + after, std::move(again));
}

void SimNode::crash(Death death) {
  if (death == Death::no_power) stage_.programs.note_destruction(machine_);
  if (life_) {
    stage_.trace.say(name(), death == Death::killed ? "is killed" : "loses power");
    life_->disk.deaden();
    stage_.network.deaden(*life_->process, death);
    life_->process->destroy_frames();
    life_.reset();
  }
  if (death == Death::no_power) {
    machine_.crash();
    image_.lose_power(random_);
  }
  run_orphans();
}

void SimNode::crash_launcher() {
  if (!life_) return;
  stage_.trace.say(name(), "its launcher is killed");
  stage_.programs.note_destruction(machine_);
  life_->launcher.crash();
  life_->process->drain();
}

void SimNode::run_orphans() {
  const auto next = machine_.next_step();
  if (life_ || !next) return;
  stage_.world.at(*next, [this] {
    if (life_) return;
    machine_.advance(stage_.world.now(), stage_.world.wall_now() + skew_);
    run_orphans();
  });
}

void SimNode::restart_in_order(Duration drain_limit) {
  if (!life_ || !life_->has_started) return;
  stage_.trace.say(name(), "drains");
  auto& life = *life_;
  life.group.spawn([this, &life, drain_limit] { return end_in_order(life, drain_limit); });
  life.process->drain();
}

Task<void> SimNode::end_in_order(Life& life, Duration drain_limit) {
  co_await life.node.drain(drain_limit, node::DrainEnd::leave);
  co_await life.node.join();
  co_await life.launcher.close();
  boot_again(Duration(0));
}

void SimNode::check_audit() { stage_.audit.check(identity().node().text(), image_); }

void SimNode::copy_disk_of(const SimNode& other) {
  is_copy_ = true;
  image_.files.clear();
  for (const auto& [file, content] : other.image_.files) {
    image_.files[file] = std::make_shared<stream::MemoryDiskImage::Content>(*content);
  }
  image_.durable_entries = image_.files;
  tls_ = other.tls_;
}

bool SimNode::is_attached() const { return life_ && life_->node.is_attached(); }

std::uint32_t SimNode::running_tasks() const { return life_ ? life_->node.running() : 0; }

void SimNode::set_skew(std::chrono::nanoseconds skew) {
  skew_ = skew;
  if (life_) life_->process->clock().set_skew(skew);
}

bool SimNode::has_durably(ByteView bytes) const {
  return std::ranges::any_of(image_.durable_entries, [&](const auto& entry) {
    return ByteView(entry.second->bytes).substr(0, entry.second->synced).find(bytes) != ByteView::npos;
  });
}

void SimNode::apply_faults() {
  if (life_) life_->disk.faults = disk_faults_;
}

}  // namespace outhaul::sim
