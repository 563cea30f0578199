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
#include "cli/standard_input.h"
#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

constexpr auto quiet_before_note = std::chrono::seconds(2);
constexpr int interrupted_exit = exit_code::signalled + SIGINT;

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
  auto body = task_request(options_);
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
  co_return finish(followed);
}

Task<Result<void>> RunSession::submit_and_follow(Bytes body) {
  http::Headers headers{{"Idempotency-Key", to_hex(cli_.random.bytes(16))}};
  const auto deadline = cli_.clock.now() + Api::retry_limit;
  for (int attempt = 0;; ++attempt) {
    auto response = co_await api_.stream(http::Method::post, "/api/v1/tasks?follow=true", body, headers);
    if (response) {
      task_id_ = response->headers.value_or_empty("Outhaul-Task-Id");
      stream_id_ = response->headers.value_or_empty("Outhaul-Stream-Id");
      if (options_.has_stdin) helpers_.spawn([this] { return send_input(); });
      if (cli_.options.json || stderr_is_terminal()) helpers_.spawn([this] { return explain_waiting(); });
      const auto copied = co_await copy_records(*response->body, sink_);
      if (copied && sink_.result()) co_return copied;
      if (!copied && !is_passing(copied.error())) co_return copied;
      api_.reset();
      co_return co_await follow_stream(cli_, api_, stream_id_, sink_.next_offset(), true, sink_);
    }
    if (!is_passing(response.error()) || cli_.clock.now() >= deadline) co_return fail(response.error());
    if (attempt == 1) note("the hub is away; waiting for it");
    api_.reset();
    co_await cli_.clock.sleep_for(retry_pause(attempt));
  }
}

// The first Ctrl-C asks for the task's end and goes on showing its output; the second leaves it alone.
Task<void> RunSession::watch_signals() {
  asio::signal_set signals(cli_.executor, SIGINT, SIGTERM);
  for (;;) {
    const int number = co_await signals.async_wait(asio::use_awaitable);
    ++interrupts_;
    if (interrupts_ > 1 || task_id_.empty()) {
      if (!task_id_.empty())
        note(fmt::format("detached from {}; see `outhaul task show {}`", task_id_, task_id_));
      std::fflush(nullptr);
      ::_exit(exit_code::signalled + number);
    }
    note("cancelling; press Ctrl-C again to detach");
    helpers_.spawn([this, number] { return cancel_task(number == SIGTERM ? "TERM" : "INT"); });
  }
}

Task<void> RunSession::cancel_task(std::string signal) {
  auto api = Api::open(cli_);
  if (!api) co_return;
  auto target = fmt::format("/api/v1/tasks/{}/cancel", task_id_);
  auto body = fmt::format(R"({{"signal":"{}"}})", signal);
  const auto answer = co_await api->call_patiently(http::Method::post, std::move(target), std::move(body));
  if (!answer) report(answer.error());
}

Task<void> RunSession::send_input() {
  auto api = Api::open(cli_);
  if (!api) co_return;
  StandardInput input(cli_.executor);
  std::uint64_t offset = 0;
  for (;;) {
    auto bytes = co_await input.read_some();
    const bool is_end = !bytes || bytes->empty();
    auto sent = co_await put_input(*api, offset, is_end ? Bytes() : std::move(*bytes), is_end);
    if (!sent) {
      // A task that has ended takes no more input; its result says how it ended.
      if (is_passing(sent.error())) report(sent.error());
      co_return;
    }
    if (is_end) co_return;
  }
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

Task<void> RunSession::explain_waiting() {
  co_await cli_.clock.sleep_for(quiet_before_note);
  if (sink_.has_written()) co_return;
  auto api = Api::open(cli_);
  if (!api) co_return;
  const auto task = co_await api->call(http::Method::get, "/api/v1/tasks/" + task_id_);
  if (!task || text_at(*task, "state") != "queued") co_return;
  const auto* waiting = task->as_object().if_contains("waiting");
  if (waiting == nullptr || !waiting->is_array()) co_return;
  if (cli_.options.json) {
    print_json(json::object{{"kind", "waiting"}, {"waiting", *waiting}});
    std::fflush(stdout);  // the records that follow go past stdio
    co_return;
  }
  note("waiting for a node:");
  for (const auto& why : waiting->as_array()) {
    note(fmt::format("  {}: {}", shown(text_at(why, "node_name")), shown(text_at(why, "reason"))));
  }
}

int RunSession::finish(const Result<void>& followed) {
  if (!followed) {
    if (!task_id_.empty())
      note(fmt::format("the task is {}; see `outhaul task show {}`", task_id_, task_id_));
    return report_own(followed.error());
  }
  const auto& end = sink_.result()->end;
  const auto* failed = std::get_if<wire::Failed>(&end);
  if (interrupts_ > 0 && failed != nullptr && failed->code == ErrorCode::task_cancelled)
    return interrupted_exit;
  return exit_code_of(*sink_.result());
}

}  // namespace outhaul::cli
