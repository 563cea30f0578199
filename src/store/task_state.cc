#include <algorithm>
#include <array>

#include "store/task_store.h"

namespace outhaul::store {
namespace {

constexpr std::array<std::string_view, 9> state_words = {  // indexed by TaskState
    "queued", "dispatched", "accepted", "running", "finished", "failed", "cancelled", "timed_out", "lost"};

}  // namespace

std::string_view name_of(TaskState state) { return state_words[static_cast<std::size_t>(state)]; }

std::optional<TaskState> find_task_state(std::string_view name) {
  const auto* const word = std::ranges::find(state_words, name);
  if (word == state_words.end()) return std::nullopt;
  return static_cast<TaskState>(word - state_words.begin());
}

}  // namespace outhaul::store
