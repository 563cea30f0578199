// outhaul task list|show|logs|wait|cancel

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "cli/follow.h"
#include "cli/listing.h"
#include "cli/option_text.h"
#include "cli/task_end.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct TaskOptions {
  std::string id;
  std::vector<std::string> ids;
  std::string state;
  std::string node;
  std::string signal;
  std::string grace;
  std::uint64_t from = 0;
  bool follow = false;
};
using Options = std::shared_ptr<TaskOptions>;  // filled by the parser, read by the action later

std::string summary_text(const json::value& task) {
  const std::string text = text_at(task, "summary");
  constexpr std::size_t widest = 60;
  return shown(text.size() > widest ? text.substr(0, widest - 3) + "..." : text);
}

Task<int> list_tasks(Cli& cli, Options options) {
  std::string target = "/api/v1/tasks?";
  if (!options->state.empty()) target += "state=" + http::percent_encode(options->state) + "&";
  if (!options->node.empty()) target += "node=" + http::percent_encode(options->node) + "&";
  target.pop_back();
  const auto now = cli.clock.wall_now();
  std::vector<Column> columns{text_column("ID", "id"),
                              text_column("STATE", "state"),
                              {"END", end_cell},
                              text_column("NODE", "node_name")};
  columns.push_back({"AGE", [now](const json::value& task) { return age_at(task, "created_at", now); }});
  columns.push_back({"COMMAND", summary_text});
  return show_list(cli, std::move(target), std::move(columns));
}

void say_end(const wire::TaskEnd& end) {
  std::fputs(fmt::format("outhaul: {}\n", end_sentence(end)).c_str(), stderr);
}

int fail_to_wait(const Error& error) {
  report(error);
  return exit_code::outhaul;
}

Task<int> show_logs(Cli& cli, Options options) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto task =
      co_await api->call(http::Method::get, "/api/v1/tasks/" + http::percent_encode(options->id));
  if (!task) co_return report(task.error());
  OutputSink sink(cli.executor, cli.options.json ? OutputSink::Form::json_lines : OutputSink::Form::bytes);
  const auto copied =
      co_await follow_stream(cli, *api, text_at(*task, "stream_id"), options->from, options->follow, sink);
  if (!copied && copied.error().code() == ErrorCode::cancelled) co_return exit_code::broken_pipe;
  if (!copied) co_return report(copied.error());
  // The output was shown, which is what was asked for: the task's own end is told, not given.
  if (options->follow && sink.result()) say_end(sink.result()->end);
  co_return exit_code::done;
}

std::string task_target(const std::string& id) { return "/api/v1/tasks/" + http::percent_encode(id); }

bool has_ended(const json::value& task) {
  const auto* const result = member_of(task, "result");
  return result != nullptr && result->is_object();
}

Task<Result<json::value>> wait_for(Api& api, std::string id) {
  for (;;) {
    OUTHAUL_CO_TRY(task, co_await api.call_patiently(http::Method::get, task_target(id) + "?wait=50s"));
    if (has_ended(task)) co_return task;
  }
}

// One after the other: they run side by side whoever waits. The code is that of the first, in the order
// given, that did not end well.
Task<int> wait_tasks(Cli& cli, Options options) {
  auto api = Api::open(cli);
  if (!api) co_return fail_to_wait(api.error());
  // A mistyped one is said at once and not after the others.
  for (const auto& id : options->ids) {
    const auto known = co_await api->call_patiently(http::Method::get, "/api/v1/tasks/" + id, {});
    if (!known) co_return fail_to_wait(known.error());
  }
  int code = exit_code::done;
  for (const auto& id : options->ids) {
    const auto task = co_await wait_for(*api, id);
    if (!task) co_return fail_to_wait(task.error());
    const auto end = task_end_of(task->at("result"));
    if (!end) co_return fail_to_wait(end.error());
    if (code == exit_code::done) code = exit_code_of(*end);
    if (cli.options.json) {
      print_json(*task);
      std::fflush(stdout);
    } else if (exit_code_of(*end) != exit_code::done) {
      std::fputs(fmt::format("outhaul: {}: {}\n", shown(id), end_sentence(*end)).c_str(), stderr);
    }
  }
  co_return code;
}

std::string cancel_sentence(const json::value& task, const TaskOptions& options) {
  const auto id = shown(text_at(task, "id"));
  if (has_ended(task)) return fmt::format("{} has ended: {}, {}", id, text_at(task, "state"), end_cell(task));
  return fmt::format("{} gets {} now and KILL after {} if it is still there", id,
                     options.signal.empty() ? "TERM" : shown(options.signal),
                     options.grace.empty() ? "10s" : options.grace);
}

Task<int> cancel_task(Cli& cli, Options options) {
  json::object body;
  if (!options->signal.empty()) body["signal"] = options->signal;
  if (!options->grace.empty()) body["grace"] = options->grace;
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto task =
      co_await api->call(http::Method::post, task_target(options->id) + "/cancel", json::serialize(body));
  if (!task) co_return report(task.error());
  if (cli.options.json) {
    print_json(*task);
  } else {
    std::fputs((cancel_sentence(*task, *options) + "\n").c_str(), stdout);
  }
  co_return exit_code::done;
}

CLI::App* add_with_id(CLI::App& group, const char* name, const char* what, const Options& options,
                      Invocation& invocation) {
  auto* command = group.add_subcommand(name, what);
  command->add_option("id", options->id, "The task's id, as `outhaul task list` shows it")
      ->required()
      ->type_name("ID");
  add_json_flag(*command, invocation);
  return command;
}

}  // namespace

void add_task_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<TaskOptions>();
  auto* group = app.add_subcommand("task", "See and end tasks");
  group->require_subcommand(1);

  auto* list = group->add_subcommand("list", "List tasks, newest first");
  list->add_option("--state", options->state, "Only those in this state")
      ->check(CLI::IsMember({"queued", "dispatched", "accepted", "running", "finished", "failed", "cancelled",
                             "timed_out", "lost"}))
      ->type_name("STATE");
  list->add_option("--node", options->node, "Only those of this node (id or name)")->type_name("N");
  add_json_flag(*list, invocation);
  list->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return list_tasks(cli, options); };
  });

  auto* show = add_with_id(*group, "show", "Show one task", options, invocation);
  show->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) {
      return show_one(cli, "/api/v1/tasks/" + http::percent_encode(options->id));
    };
  });

  auto* logs = add_with_id(*group, "logs", "Show a task's output", options, invocation);
  logs->add_flag("-f,--follow", options->follow,
                 "Go on until the task has ended, then say how; exits with 0 however it ended");
  takes_offset(logs->add_option("--from", options->from, "Start at this offset in bytes (default 0)"));
  logs->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return show_logs(cli, options); };
  });

  auto* wait = group->add_subcommand("wait", "Wait for the end of tasks and exit as `outhaul run` would");
  wait->add_option("id", options->ids, "Their ids; the code is that of the first that did not exit with 0")
      ->required()
      ->type_name("ID");
  add_json_flag(*wait, invocation);
  wait->footer("\n" + std::string(exit_code_table));
  wait->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return wait_tasks(cli, options); };
  });

  auto* cancel =
      add_with_id(*group, "cancel", "End a task: a signal, a grace, then KILL", options, invocation);
  cancel
      ->add_option("--signal", options->signal,
                   "The first signal: TERM, INT, HUP, QUIT, USR1, USR2 or KILL (default TERM)")
      ->check(CLI::IsMember({"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL"}))
      ->type_name("NAME");
  takes_duration(
      cancel->add_option("--grace", options->grace, "From the first signal to KILL (default 10s)"));
  cancel->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return cancel_task(cli, options); };
  });

  add_receipt_commands(*group, invocation);
}

}  // namespace outhaul::cli
