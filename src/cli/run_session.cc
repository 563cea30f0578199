#include "cli/run_session.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/within.h"
#include "cli/follow.h"
#include "cli/signed_request.h"
#include "cli/standard_input.h"
#include "cli/task_end.h"
#include "cli/terminal.h"
#include "cli/waiting.h"

namespace outhaul::cli {
namespace {

constexpr auto quiet_before_note = std::chrono::seconds(1);
constexpr auto until_next_look = std::chrono::seconds(2);
// How long an interrupt waits for the name of a task that is being submitted.
constexpr auto patience_with_answer = std::chrono::seconds(2);
// And how long for a hub that does not hear of the cancellation.
constexpr auto patience_with_cancel = std::chrono::seconds(10);

int report_own(const Error& error) {
  report(error);
  return exit_code::outhaul;
}

// Never waits: whoever does not read standard error must not keep Ctrl-C from being heard.
void note(const std::string& text) {
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, 0) == 1) std::fputs(("outhaul: " + text + "\n").c_str(), stderr);
}

OutputSink::Form form_of(const Cli& cli) {
  return cli.options.json ? OutputSink::Form::json_lines : OutputSink::Form::bytes;
}

}  // namespace

RunSession::RunSession(Cli& cli, Api api, RunOptions options)
    : cli_(cli),
      api_(std::move(api)),
      options_(std::move(options)),
      sink_(cli.executor, form_of(cli)),
      helpers_(cli.executor) {}

Task<int> RunSession::run() {
  auto body = options_.sign ? co_await sign_request(cli_, api_, options_) : task_request(options_);
  if (!body) {
    report(body.error());
    co_return exit_code::outhaul;
  }
  if (options_.detach) co_return co_await submit_detached(std::move(*body));
  co_return co_await attend(std::move(*body));
}

Task<int> RunSession::submit_detached(Bytes body) {
  // The key makes a repeated POST the same task, so it may be tried again.
  http::Headers headers{{"Idempotency-Key", to_hex(cli_.random.bytes(16))}};
  for (int attempt = 0;; ++attempt) {
    auto response = co_await api_.stream(http::Method::post, "/api/v1/tasks", body, headers);
    if (response) {
      const std::string id(response->headers.value_or_empty("Outhaul-Task-Id"));
      const auto text = co_await response->body->read_all(std::size_t{1} << 20U);
      if (cli_.options.json && text) {
        std::fputs((*text + "\n").c_str(), stdout);
      } else {
        std::fputs((id + "\n").c_str(), stdout);
      }
      co_return exit_code::done;
    }
    if (!is_passing(response.error()) || attempt >= 100) co_return report_own(response.error());
    api_.reset();
    co_await cli_.clock.sleep_for(retry_pause(attempt));
  }
}

Task<int> RunSession::attend(Bytes body) {
  helpers_.spawn([this] { return watch_signals(); });
  auto followed = co_await submit_and_follow(std::move(body));
  helpers_.cancel();
  co_await helpers_.join();
  if (!followed && followed.error().code() == ErrorCode::cancelled && !task_id_.empty()) {
    co_await cancel_task("TERM");
    co_return exit_code::broken_pipe;
  }
  co_return co_await finish(std::move(followed));
}

Task<Result<void>> RunSession::submit_and_follow(Bytes body) {
  http::Headers headers{{"Idempotency-Key", to_hex(cli_.random.bytes(16))}};
  const auto deadline = cli_.clock.now() + Api::retry_limit;
  for (int attempt = 0;; ++attempt) {
    auto response = co_await api_.stream(http::Method::post, "/api/v1/tasks?follow=true", body, headers);
    if (response) {
      task_id_ = response->headers.value_or_empty("Outhaul-Task-Id");
      stream_id_ = response->headers.value_or_empty("Outhaul-Stream-Id");
      if (interrupted_by_ != 0) helpers_.spawn([this] { return cancel_interrupted(); });
      if (options_.has_stdin) helpers_.spawn([this] { return send_input(); });
      helpers_.spawn([this] { return explain_waiting(); });
      const auto copied = co_await copy_records(*response->body, sink_);
      if (copied && sink_.result()) co_return copied;
      if (!copied && !is_passing(copied.error())) co_return copied;
      api_.reset();
      co_return co_await follow_stream(cli_, api_, stream_id_, sink_.next_offset(), true, sink_);
    }
    if (!is_passing(response.error()) || cli_.clock.now() >= deadline) co_return fail(response.error());
    if (attempt == 1)
      note(fmt::format("{}; waiting up to {} minutes for the hub, Ctrl-C leaves", response.error().what(),
                       Api::retry_limit.count()));
    api_.reset();
    co_await cli_.clock.sleep_for(retry_pause(attempt));
  }
}

// The first signal asks for the task's end and goes on showing its output; the second leaves at once.
Task<void> RunSession::watch_signals() {
  asio::signal_set signals(cli_.executor, SIGINT, SIGTERM);
  for (;;) {
    const int number = co_await signals.async_wait(asio::use_awaitable);
    if (interrupted_by_ != 0) leave(number);
    interrupted_by_ = number;
    helpers_.spawn([this] { return task_id_.empty() ? await_name() : cancel_interrupted(); });
  }
}

// The hub may have taken the task although its answer is not here: cancelled as soon as it has a name.
Task<void> RunSession::await_name() {
  co_await cli_.clock.sleep_for(patience_with_answer);
  if (task_id_.empty()) leave(interrupted_by_);
}

Task<void> RunSession::cancel_interrupted() {
  say_cancelling(interrupted_by_);
  auto telling = cancel_task(signal_name(interrupted_by_));
  const auto deadline = cli_.clock.now() + patience_with_cancel;
  if (!co_await within(cli_.clock, deadline, std::move(telling))) leave(interrupted_by_);
}

void RunSession::say_cancelling(int number) const {
  note(fmt::format(
      "cancelling: a command that runs gets {} now and KILL in 10 seconds if it is still there; once more "
      "({}) leaves at once while it is ended",
      signal_name(number), number == SIGINT ? "Ctrl-C" : "SIGTERM"));
}

void RunSession::leave(int number) const {
  if (task_id_.empty()) {
    note("left before the hub had answered: the task may have been taken; see `outhaul task list`");
  } else if (is_cancel_known_) {
    note(fmt::format("left; the task is being ended: see `outhaul task show {}`", task_id_));
  } else {
    note(
        fmt::format("left before the hub had heard of it: `outhaul task cancel {}` ends the task", task_id_));
  }
  std::fflush(nullptr);
  ::_exit(exit_code::signalled + number);
}

Task<void> RunSession::cancel_task(std::string signal) {
  auto api = Api::open(cli_);
  if (!api) co_return;
  auto target = fmt::format("/api/v1/tasks/{}/cancel", task_id_);
  auto body = fmt::format(R"({{"signal":"{}"}})", signal);
  const auto answer = co_await api->call_patiently(http::Method::post, std::move(target), std::move(body));
  is_cancel_known_ = answer.has_value();
  if (!answer) report(answer.error());
}

Task<void> RunSession::send_input() {
  auto api = Api::open(cli_);
  if (!api) co_return;
  StandardInput input(cli_.executor);
  std::uint64_t offset = 0;
  for (;;) {
    auto bytes = co_await input.read_some();
    if (!bytes) co_return co_await give_up_input(bytes.error());
    const bool is_end = bytes->empty();
    auto sent = co_await put_input(*api, offset, std::move(*bytes), is_end);
    if (!sent) {
      // A task that has ended takes no more input; its result says how it ended.
      if (is_passing(sent.error())) report(sent.error());
      co_return;
    }
    if (is_end) co_return;
  }
}

// A command that was given half of its input must not end well.
Task<void> RunSession::give_up_input(Error error) {
  report(error);
  has_input_failed_ = true;
  co_await cancel_task("TERM");
}

Task<Result<void>> RunSession::put_input(Api& api, std::uint64_t& offset, Bytes bytes, bool is_end) {
  const auto size = bytes.size();
  auto target =
      fmt::format("/api/v1/tasks/{}/stdin?offset={}{}", task_id_, offset, is_end ? "&end=true" : "");
  // By offset, so that a repeated PUT appends nothing twice.
  OUTHAUL_CO_TRY(answer, co_await api.call_patiently(http::Method::put, std::move(target), std::move(bytes)));
  static_cast<void>(answer);
  offset += size;
  co_return Result<void>();
}

// Says why it waits once it does for a while, and again when the reason is another one.
Task<void> RunSession::explain_waiting() {
  std::vector<std::string> said;
  auto api = Api::open(cli_);
  if (!api) co_return;
  for (Duration pause = quiet_before_note;; pause = until_next_look) {
    co_await cli_.clock.sleep_for(pause);
    if (sink_.has_written()) co_return;
    const auto task = co_await api->call(http::Method::get, "/api/v1/tasks/" + task_id_);
    if (!task) {
      // That the hub is away is said elsewhere.
      api->reset();
      continue;
    }
    auto lines = waiting_lines(*task);
    if (lines.empty()) co_return;
    if (lines == said) continue;
    say_why(*task, lines);
    said = std::move(lines);
  }
}

void RunSession::say_why(const json::value& task, const std::vector<std::string>& lines) const {
  for (const auto& line : lines) note(line);
  const auto* const waiting = member_of(task, "waiting");
  if (!cli_.options.json || waiting == nullptr) return;
  print_json(json::object{{"kind", "waiting"}, {"task_id", task_id_}, {"waiting", *waiting}});
  std::fflush(stdout);  // the records that follow go past stdio
}

Task<int> RunSession::finish(Result<void> followed) {
  if (!followed) {
    if (!task_id_.empty())
      note(fmt::format("the task is {}; see `outhaul task show {}`", task_id_, task_id_));
    co_return report_own(followed.error());
  }
  const auto& result = *sink_.result();
  if (!result.pipe_holder.empty()) {
    note(fmt::format("{} still held the output after the command had ended; it was ended too",
                     shown(result.pipe_holder)));
  }
  if (has_input_failed_) co_return exit_code::outhaul;
  const int code = interrupted_by_ == 0 ? exit_code_of(result.end)
                                        : exit_code_after_interrupt(result.end, interrupted_by_);
  if (goes_without_saying(result.end)) co_return code;
  const auto node = std::holds_alternative<wire::Failed>(result.end) ? co_await node_name() : std::string();
  note(fmt::format("{}{}", node.empty() ? "" : "on " + node + ": ", end_sentence(result.end)));
  co_return code;
}

// Empty when there was none, or the hub does not say.
Task<std::string> RunSession::node_name() {
  const auto deadline = cli_.clock.now() + std::chrono::seconds(2);
  auto asking = api_.call(http::Method::get, "/api/v1/tasks/" + task_id_);
  const auto task = co_await within(cli_.clock, deadline, std::move(asking));
  co_return task && *task ? shown(text_at(**task, "node_name")) : std::string();
}

}  // namespace outhaul::cli
