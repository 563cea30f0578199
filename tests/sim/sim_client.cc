#include "tests/sim/sim_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "crypto/digest.h"
#include "hub/streams/output_reader.h"

namespace outhaul::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration retry_interval = 1s;
constexpr Duration audit_interval = 45s;
constexpr Duration repeat_after = 20s;
constexpr std::size_t read_bytes = 64U << 10U;

std::string title_of(const Errand& errand) {
  return errand.acknowledged ? errand.acknowledged->task.text() : "an order that was not acknowledged";
}

bool is_same_end(const store::TaskRow& a, const store::TaskRow& b) {
  return a.state == b.state && a.result == b.result && a.error_code == b.error_code &&
         a.error_message == b.error_message;
}

// What a row keeps of a result that came in its stream.
Bytes without_receipt(Result<wire::TaskResult> result) {
  if (!result) return {};
  result->receipt.clear();
  return wire::serialise_task_result(*result);
}

}  // namespace

bool SimClient::is_done() const { return std::ranges::all_of(errands_, &Errand::is_done); }

void SimClient::attend(const HubLife& life) {
  for (auto& errand : errands_) {
    if (!errand.is_done()) life.group.spawn([this, &errand, life] { return run(errand, life); });
  }
  life.group.spawn([this, life] { return audit_now_and_then(life); });
}

void SimClient::note_restore(const store::MemoryTables& saved) {
  for (auto& errand : errands_) {
    if (!errand.acknowledged) continue;
    const auto* row = saved.tasks.find(errand.acknowledged->task);
    if (row == nullptr) {
      // Its node may bring it back; this client does not wait for that.
      errand.is_refused = true;
      errand.acknowledged.reset();
      errand.shown.reset();
      continue;
    }
    if (store::is_final(row->state)) continue;
    errand.shown.reset();
    errand.output.emplace("the client", row->id, stage_.programs, stage_.verdict);
    errand.is_input_sent = false;
    errand.is_cancel_sent = row->times.cancel_requested_at.has_value();
  }
}

Task<void> SimClient::run(Errand& errand, HubLife life) {
  co_await life.clock.sleep_until(errand.when);
  if (!errand.acknowledged && !co_await submit(errand, life)) co_return;
  if (errand.is_repeated) life.group.spawn([this, &errand, life] { return repeat(errand, life); });
  if (errand.cancel_after && !errand.is_cancel_sent) {
    life.group.spawn([this, &errand, life] { return cancel(errand, life); });
  }
  if (errand.order.has_stdin && !errand.is_input_sent) {
    life.group.spawn([this, &errand, life] { return feed(errand, life); });
  }
  co_await follow(errand, life);
}

Task<bool> SimClient::submit(Errand& errand, HubLife life) {
  while (!errand.is_given_up()) {
    errand.was_sent = true;
    std::optional<hub::IdempotencyKey> key;
    if (errand.key) key = hub::IdempotencyKey{*errand.key, crypto::sha256(*errand.key)};
    const auto submission = co_await life.hub.tasks().submit(errand.order, std::move(key));
    if (submission) {
      acknowledge(errand, *submission);
      co_return true;
    }
    stage_.trace.say("client", "is refused: " + submission.error().what());
    errand.is_refused = !errand.key || submission.error().error_class() != ErrorClass::retry;
    co_await life.clock.sleep_for(retry_interval);
  }
  co_return false;
}

void SimClient::acknowledge(Errand& errand, const hub::Submission& submission) {
  stage_.trace.say("client", "is promised " + submission.task.text());
  errand.acknowledged = submission;
  errand.acknowledged_at = stage_.world.now();
  errand.output.emplace("the client", submission.task, stage_.programs, stage_.verdict);
}

Task<void> SimClient::repeat(Errand& errand, HubLife life) {
  co_await life.clock.sleep_until(*errand.acknowledged_at + repeat_after);
  hub::IdempotencyKey key{*errand.key, crypto::sha256(*errand.key)};
  const auto again = co_await life.hub.tasks().submit(errand.order, std::move(key));
  if (!again) co_return;
  errand.is_repeated = false;
  if (again->is_repeat && again->task == errand.acknowledged->task) co_return;
  stage_.verdict.fail("same_key_acts_once", again->task.text() + " instead of " + title_of(errand));
}

Task<void> SimClient::cancel(Errand& errand, HubLife life) {
  co_await life.clock.sleep_until(*errand.acknowledged_at + *errand.cancel_after);
  const hub::CancelWish wish{.signal = 15, .grace = 5s};
  const auto cancelled = co_await life.hub.tasks().cancel(errand.acknowledged->task, wish);
  if (cancelled) {
    stage_.trace.say("client", "has cancelled " + title_of(errand));
    errand.is_cancel_sent = true;
  } else if (cancelled.error().code() == ErrorCode::not_found) {
    stage_.verdict.fail("acknowledged_task_is_kept", title_of(errand) + " is not found by cancel");
  }
}

// From the start in each life: what the hub holds already it takes no second time.
Task<void> SimClient::feed(Errand& errand, HubLife life) {
  std::size_t at = 0;
  while (!errand.is_input_sent) {
    const auto size = std::min<std::size_t>(errand.input.size() - at, 1 + random_.below(9000));
    hub::StdinInlet::Piece piece{at, errand.input.substr(at, size), at + size == errand.input.size()};
    const bool is_last = piece.is_last;
    const auto held = co_await life.hub.tasks().append_stdin(errand.acknowledged->task, std::move(piece));
    if (held) {
      at += size;
      errand.is_input_sent = is_last;
    } else if (held.error().code() == ErrorCode::not_found || held.error().code() == ErrorCode::conflict) {
      co_return;
    }
    const auto pause = Duration(std::chrono::milliseconds(random_.below(800)));
    co_await life.clock.sleep_for(pause);
  }
}

Task<void> SimClient::follow(Errand& errand, HubLife life) {
  hub::OutputReader reader(life.hub.stream_sources(), errand.acknowledged->stream, errand.output->offset());
  while (!errand.output->result()) {
    const auto chunk = co_await reader.next(read_bytes, hub::OutputReader::Wait::for_more);
    if (stage_.verdict.violation()) co_return;
    if (!chunk && chunk.error().code() == ErrorCode::invalid) co_return co_await follow_again(errand, life);
    if (!chunk && chunk.error().error_class() != ErrorClass::retry) {
      stage_.verdict.fail("acknowledged_output_is_kept", title_of(errand) + ": " + chunk.error().what());
      co_return;
    }
    if (!chunk) {
      co_await life.clock.sleep_for(retry_interval);
      continue;
    }
    for (const auto& slice : chunk->slices) errand.output->take(slice.view());
  }
  co_await learn_end(errand, life);
}

// Output is shown as it comes, before it is durable: a hub that lost power may hold less than was shown. Only
// the result is never taken back.
Task<void> SimClient::follow_again(Errand& errand, HubLife life) {
  co_await life.clock.sleep_for(retry_interval);
  errand.output->rewind(0);
  co_await follow(errand, life);
}

Task<void> SimClient::learn_end(Errand& errand, HubLife life) {
  while (!errand.shown) {
    const auto deadline = life.clock.now() + 20s;
    const auto row = co_await life.hub.tasks().wait_ended(errand.acknowledged->task, deadline);
    if (row && store::is_final(row->state)) co_return take_end(errand, *row);
    if (!row && row.error().code() == ErrorCode::not_found) {
      stage_.verdict.fail("acknowledged_task_is_kept", title_of(errand) + " is not found");
      co_return;
    }
    co_await life.clock.sleep_for(retry_interval);
  }
}

void SimClient::take_end(Errand& errand, const store::TaskRow& row) {
  stage_.trace.say("client",
                   fmt::format("sees {} {} {}", title_of(errand), store::name_of(row.state), row.error_code));
  errand.shown = row;
  const auto shown = wire::parse_task_result(*errand.output->result());
  const bool is_finished = row.state == store::TaskState::finished;
  if (!row.result.empty() && row.result != without_receipt(shown)) {
    stage_.verdict.fail("one_result", title_of(errand) + ": the row and the stream differ");
  } else if (shown && is_finished == std::holds_alternative<wire::Failed>(shown->end)) {
    stage_.verdict.fail("one_result", title_of(errand) + ": the state and the result differ");
  }
}

Task<void> SimClient::audit_now_and_then(HubLife life) {
  while (true) {
    for (auto& errand : errands_) {
      if (errand.acknowledged) co_await audit_row(errand, life);
    }
    if (is_tidying_) co_await cancel_strays(life);
    co_await life.clock.sleep_for(audit_interval);
  }
}

Task<void> SimClient::cancel_strays(HubLife life) {
  store::PageRequest request{store::max_page_rows, {}};
  const auto page = co_await life.hub.tasks().list(store::TaskFilter(), std::move(request));
  if (!page) co_return;
  for (const auto& row : page->rows) {
    const bool is_ours = std::ranges::any_of(errands_, [&row](const Errand& errand) {
      return errand.acknowledged && errand.acknowledged->task == row.id;
    });
    if (is_ours || store::is_final(row.state)) continue;
    const hub::CancelWish wish{.signal = 15, .grace = 5s};
    static_cast<void>(co_await life.hub.tasks().cancel(row.id, wish));
  }
}

Task<void> SimClient::audit_everything(HubLife life, bool& is_checked) {
  for (auto& errand : errands_) {
    if (!errand.acknowledged) continue;
    co_await audit_row(errand, life);
    co_await audit_output(errand, life);
  }
  is_checked = true;
}

Task<void> SimClient::audit_output(Errand& errand, HubLife life) {
  OutputCheck whole("the last audit", errand.acknowledged->task, stage_.programs, stage_.verdict);
  hub::OutputReader reader(life.hub.stream_sources(), errand.acknowledged->stream, 0);
  while (!whole.result() && !stage_.verdict.violation()) {
    const auto chunk = co_await reader.next(read_bytes, hub::OutputReader::Wait::no);
    if (!chunk || chunk->slices.empty()) {
      stage_.verdict.fail("shown_output_stays",
                          title_of(errand) + (chunk ? ": no end" : ": " + chunk.error().what()));
      co_return;
    }
    for (const auto& slice : chunk->slices) whole.take(slice.view());
  }
  if (whole.result() == errand.output->result()) co_return;
  stage_.verdict.fail("a_shown_result_stays", title_of(errand) + ": its stream ends otherwise");
}

Task<void> SimClient::audit_row(Errand& errand, HubLife life) {
  const auto row = co_await life.hub.tasks().load(errand.acknowledged->task);
  if (!row && row.error().code() == ErrorCode::not_found) {
    stage_.verdict.fail("acknowledged_task_is_kept", title_of(errand) + " is not found by the audit");
  }
  if (!row || !errand.shown) co_return;
  if (!is_same_end(*row, *errand.shown)) {
    stage_.verdict.fail("a_shown_result_stays",
                        fmt::format("{} was {} and is {}", title_of(errand),
                                    store::name_of(errand.shown->state), store::name_of(row->state)));
  }
}

}  // namespace outhaul::sim
