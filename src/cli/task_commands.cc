// outhaul task list|show|logs|cancel

#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "cli/follow.h"
#include "cli/listing.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct TaskOptions {
  std::string id;
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

std::string end_text_of(const json::value& task) {
  const auto* result = task.is_object() ? task.as_object().if_contains("result") : nullptr;
  if (result == nullptr || !result->is_object()) return text_at(task, "state");
  if (const auto code = text_at(*result, "exit_code"); !code.empty()) return "exited " + code;
  if (const auto signal = text_at(*result, "signal"); !signal.empty()) return "signal " + signal;
  return text_at(*result, "error_code");
}

Task<int> list_tasks(Cli& cli, Options options) {
  std::string target = "/api/v1/tasks?";
  if (!options->state.empty()) target += "state=" + http::percent_encode(options->state) + "&";
  if (!options->node.empty()) target += "node=" + http::percent_encode(options->node) + "&";
  target.pop_back();
  const auto now = cli.clock.wall_now();
  std::vector<Column> columns{text_column("ID", "id"),
                              text_column("STATE", "state"),
                              {"END", end_text_of},
                              text_column("NODE", "node_name")};
  columns.push_back({"AGE", [now](const json::value& task) { return age_at(task, "created_at", now); }});
  columns.push_back({"COMMAND", summary_text});
  return show_list(cli, std::move(target), std::move(columns));
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
  co_return exit_code::done;
}

Task<int> cancel_task(Cli& cli, Options options) {
  json::object body;
  if (!options->signal.empty()) body["signal"] = options->signal;
  if (!options->grace.empty()) body["grace"] = options->grace;
  auto target = fmt::format("/api/v1/tasks/{}/cancel", http::percent_encode(options->id));
  return send_and_show(cli, http::Method::post, std::move(target), json::serialize(body));
}

CLI::App* add_with_id(CLI::App& group, const char* name, const char* what, const Options& options,
                      Invocation& invocation) {
  auto* command = group.add_subcommand(name, what);
  command->add_option("id", options->id, "The task's id")->required();
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
                             "timed_out", "lost"}));
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
  logs->add_flag("-f,--follow", options->follow, "Go on until the task has ended");
  logs->add_option("--from", options->from, "Start at this offset in bytes")->type_name("OFFSET");
  logs->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return show_logs(cli, options); };
  });

  auto* cancel =
      add_with_id(*group, "cancel", "End a task: a signal, a grace, then KILL", options, invocation);
  cancel->add_option("--signal", options->signal, "The first signal (default TERM)");
  cancel->add_option("--grace", options->grace, "From the first signal to KILL (default 10s)")
      ->type_name("D");
  cancel->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return cancel_task(cli, options); };
  });
}

}  // namespace outhaul::cli
