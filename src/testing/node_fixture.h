// A node as a whole, over fakes: one loop, a hand-moved clock, a disk and a launcher that outlive it.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>

#include "audit/audit_entry.h"
#include "audit/log_files.h"
#include "node/node.h"
#include "stream/memory_disk.h"
#include "testing/manual_clock.h"
#include "testing/memory_launcher.h"
#include "testing/memory_owner.h"
#include "testing/script_hub.h"

namespace outhaul::node {

using namespace std::chrono_literals;
using testing::ManualClock;
using testing::run_ready;
using testing::ScriptHub;

class KeptLines final : public LogSink {
 public:
  void write(std::string_view line) override { text.append(line).append("\n"); }
  std::string text;
};

// One process of the node, from its start to its end.
struct NodeLife {
  NodeLife(asio::io_context& io, ManualClock& clock, Random& random, stream::MemoryDiskImage& image,
           testing::MemoryMachine& machine, ScriptHub& hub, const testing::TestNodeKeys& keys, const Log& log,
           const NodeSettings& settings, OwnerPorts owner)
      : disk(image, io.get_executor(), clock),
        launcher(io.get_executor(), clock, machine),
        node({io.get_executor(), clock, random, disk, hub, launcher, log, nullptr, owner},
             {keys.identity().node, keys.identity().deployment, &keys, hub.keys()}, settings, {}),
        group(io.get_executor()) {}

  stream::MemoryDisk disk;
  testing::MemoryLauncher launcher;
  Node node;
  TaskGroup group;
  std::optional<Result<void>> started;
  std::optional<Result<void>> ended;
};

class NodeTest : public ::testing::Test {
 protected:
  NodeTest() {
    settings_.isolation = {wire::IsolationLevel::trusted};
    settings_.workspace = "/workspace";
    settings_.slots = 4;
    settings_.disk_floor_bytes = 0;
    machine_.teach("hello", {"out=hello", "err=world", "exit=3"});
    machine_.teach("slow", {"out=before ", "wait=60s", "out=after", "exit=0"});
    machine_.teach("stubborn", {"ignore-term", "wait=1h"});
    machine_.teach("cat", {"cat", "exit=0"});
    machine_.teach("flood", {"fill=3000000", "exit=0"});
  }
  ~NodeTest() override {
    kill();
    hub_.is_away = true;
    hub_.cut();
    TaskGroup group(io_.get_executor());
    group.spawn([this] { return hub_.close(); });
    settle();
  }

  void settle() { run_ready(io_); }
  // In steps, so that whoever sleeps again is woken at its own time.
  void pass(Duration span) {
    settle();
    for (const auto end = clock_.now() + span; clock_.now() < end;) {
      const auto next = clock_.next_wake();
      const auto step = next && *next > clock_.now() ? std::min(*next, end) - clock_.now() : Duration(1ms);
      clock_.advance(std::min<Duration>(step, end - clock_.now()));
      settle();
    }
  }

  void live() {
    life_ = std::make_unique<NodeLife>(io_, clock_, deployment_.random(), image_, machine_, hub_, node_keys_,
                                       log_, settings_, OwnerPorts{&lock_, &files_});
    life_->group.spawn([life = life_.get()]() -> Task<void> {
      life->started = co_await life->node.start();
      if (*life->started) life->ended = co_await life->node.run();
    });
    settle();
  }
  // As SIGKILL: what was appended stays, nothing more is written or said.
  void kill() {
    if (!life_) return;
    hub_.cut();
    life_->group.cancel();
    TaskGroup ending(io_.get_executor());
    ending.spawn([life = life_.get()]() -> Task<void> {
      co_await life->node.join();
      co_await life->launcher.close();
    });
    settle();
    life_.reset();
  }
  wire::TaskSpec shell(std::string line) {
    auto spec = hub_.make_task();
    spec.action = wire::ShellAction{std::move(line)};
    return spec;
  }
  std::optional<ErrorCode> refusal_of(const wire::TaskSpec& spec) {
    const auto answer = hub_.answers().find(spec.task_id);
    if (answer == hub_.answers().end() || answer->second) return std::nullopt;
    return answer->second.error().code();
  }
  const wire::TaskResult* result_of(const wire::TaskSpec& spec) {
    const auto* held = hub_.find(spec.stream_id);
    return held != nullptr && held->result ? &*held->result : nullptr;
  }

  // The actions in the node's audit log about this subject, in their order; the log must be whole.
  std::vector<std::string> audited(const std::string& subject) {
    stream::MemoryDisk disk(image_, io_.get_executor(), clock_);
    audit::DiskFiles files(disk);
    const auto view = audit::read_journal_view(files).value();
    const auto report = audit::check_log(files, view, {node_keys_.identity().node.text(), {}, {}}).value();
    EXPECT_TRUE(report.is_whole()) << report.findings.front().what;
    std::vector<std::string> actions;
    for (const auto& bytes : view.records) {
      const auto record = audit::parse_record(bytes);
      if (record->kind != audit::ChainKind::entry) continue;
      const auto entry = audit::parse_entry(record->payload).value();
      const bool is_known = entry.code.empty();
      if (entry.subject == subject) actions.push_back(entry.action + (is_known ? "" : " " + entry.code));
    }
    return actions;
  }

  asio::io_context io_{1};
  ManualClock clock_;
  KeptLines lines_;
  Log log_{"node", clock_, lines_};
  testing::TestDeployment deployment_;
  testing::TestNodeKeys node_keys_ = deployment_.make_node();
  ScriptHub hub_{io_.get_executor(), clock_, deployment_, node_keys_};
  stream::MemoryDiskImage image_;
  testing::MemoryMachine machine_;
  NodeSettings settings_;
  testing::MemoryLock lock_;
  testing::MemoryFiles files_;
  std::unique_ptr<NodeLife> life_;
};

}  // namespace outhaul::node
