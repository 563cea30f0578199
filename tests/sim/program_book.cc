#include "tests/sim/program_book.h"

#include <fmt/format.h>

#include <algorithm>

namespace outhaul::sim {

std::pair<sandbox::OutputKind, std::size_t> Program::run_at(std::size_t offset) const {
  auto next = std::ranges::upper_bound(runs, offset, {}, &OutputRun::from);
  const std::size_t run_end = next == runs.end() ? written.size() : next->from;
  return {std::prev(next)->kind, run_end - offset};
}

const Program* ProgramBook::find(const TaskId& task) const {
  const auto found = programs_.find(task);
  return found == programs_.end() ? nullptr : &found->second;
}

void ProgramBook::add_echo(const TaskId& task, const std::string& text) {
  if (programs_.contains(task)) return;
  auto& program = programs_[task];
  program.is_echo = true;
  program.written = text;
  program.runs.push_back({0, sandbox::OutputKind::out});
  program.end = ProgramEnd{};
}

void ProgramBook::note_start(const TaskId& task, const NodeId& node) {
  trace_.say("program", "starts " + task.text());
  const auto why = forbidden_.find(task);
  if (why != forbidden_.end()) verdict_.fail("forbidden_task_started", task.text() + " is " + why->second);
  if (!expected_[task].contains(node)) verdict_.fail("only_what_the_hub_sent_starts", task.text());
  const auto [place, is_new] = programs_.try_emplace(task);
  if (!is_new) verdict_.fail("started_twice", task.text());
  place->second.started_at = world_.now();
  on_start(node);
}

void ProgramBook::note_output(const TaskId& task, sandbox::OutputKind kind, ByteView bytes) {
  auto& program = programs_[task];
  if (program.runs.empty() || program.runs.back().kind != kind)
    program.runs.push_back({program.written.size(), kind});
  program.written.append(bytes);
}

void ProgramBook::note_end(const TaskId& task, int code, int signal) {
  trace_.say("program", fmt::format("ends {} code {} signal {}", task.text(), code, signal));
  auto& program = programs_[task];
  program.end = ProgramEnd{code, signal};
  program.ended_at = world_.now();
}

// One that had ended may lose the record of its end too.
bool ProgramBook::may_be_removed(const TaskId& task) const {
  const auto found = expected_.find(task);
  return found != expected_.end() &&
         std::ranges::any_of(found->second, [this](const NodeId& node) { return removed_.contains(node); });
}

void ProgramBook::note_destruction(testing::MemoryMachine& machine) {
  for (const auto& [task, process] : machine.processes()) {
    const auto found = programs_.find(task);
    if (found != programs_.end()) found->second.was_destroyed = true;
  }
}

}  // namespace outhaul::sim
