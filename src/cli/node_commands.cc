// outhaul node list|show|drain|rotate|remove|pending|approve|deny|token

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "cli/enrolment_text.h"
#include "cli/listing.h"
#include "cli/option_text.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct NodeOptions {
  std::string node;
  std::string pool;
  std::vector<std::string> labels;
  std::string expires_in;
  bool undo = false;
  bool approve = false;
  std::string id;
  std::string fingerprint;
};
using Options = std::shared_ptr<NodeOptions>;  // filled by the parser, read by the action later

std::string node_target(const Options& options) {
  return "/api/v1/nodes/" + http::percent_encode(options->node);
}

std::string slots_text(const json::value& node) {
  const auto* load = node.is_object() ? node.as_object().if_contains("load") : nullptr;
  if (load == nullptr || !load->is_object()) return "-";
  return fmt::format("{}/{}", text_at(*load, "running"), text_at(*load, "slots"));
}

std::string state_text(const json::value& node) {
  const auto health = text_at(node, "health");
  if (text_at(node, "locked") == "true") return health + ", locked";
  return text_at(node, "draining") == "true" ? health + ", draining" : health;
}

Task<int> list_nodes(Cli& cli, const Options& options) {
  const auto now = cli.clock.wall_now();
  const auto labels = [](const json::value& node) {
    const auto* found = node.is_object() ? node.as_object().if_contains("labels") : nullptr;
    return found == nullptr ? std::string("-") : labels_text(*found);
  };
  std::vector<Column> columns{text_column("NAME", "name"), {"STATE", state_text},
                              text_column("POOL", "pool"), {"LABELS", labels},
                              {"BUSY", slots_text},        text_column("VERSION", "version")};
  columns.push_back({"SEEN", [now](const json::value& node) { return age_at(node, "last_seen_at", now); }});
  columns.push_back(text_column("ID", "id"));
  std::string target = "/api/v1/nodes";
  if (!options->pool.empty()) target += "?pool=" + http::percent_encode(options->pool);
  return show_list(cli, std::move(target), std::move(columns));
}

std::string drain_sentence(const json::value& node) {
  const auto name = shown(text_at(node, "name"));
  if (text_at(node, "draining") != "true") return name + " takes tasks again";
  return fmt::format(
      "{0} takes no new task, what runs there goes on; `outhaul node drain --undo {0}` lets it "
      "take tasks again",
      name);
}

Task<int> drain_node(Cli& cli, Options options) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  auto body = fmt::format(R"({{"drain":{}}})", !options->undo);
  const auto node = co_await api->call(http::Method::post, node_target(options) + "/drain", std::move(body));
  if (!node) co_return report(node.error());
  if (cli.options.json) {
    print_json(*node);
  } else {
    std::fputs((drain_sentence(*node) + "\n").c_str(), stdout);
  }
  co_return exit_code::done;
}

Task<int> rotate_node(Cli& cli, Options options) {
  return send_and_show(cli, http::Method::post, node_target(options) + "/rotate", {});
}

Task<int> remove_node(Cli& cli, Options options) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto answer = co_await api->call(http::Method::del, node_target(options));
  if (!answer) co_return report(answer.error());
  if (!cli.options.json)
    std::fputs(
        "removed; its tunnel is closed and its identity is refused from now on\n"
        "tasks that it had not ended are lost; what runs there is ended once the node hears of it\n",
        stdout);
  co_return exit_code::done;
}

Task<int> create_token(Cli& cli, Options options) {
  json::object body;
  if (!options->pool.empty()) body["pool"] = options->pool;
  if (options->approve) body["approve"] = true;
  if (!options->expires_in.empty()) body["expires_in"] = options->expires_in;
  if (!options->labels.empty()) {
    auto labels = parse_pairs(options->labels, "--label");
    if (!labels) co_return report_usage(labels.error());
    body["labels"] = std::move(*labels);
  }
  const auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto made = co_await api->call(http::Method::post, "/api/v1/node-tokens", json::serialize(body));
  if (!made) co_return report(made.error());
  if (cli.options.json) {
    print_json(*made);
  } else {
    const auto text = enrolment_text(*made, file->find(cli.options.context)->url);
    std::fputs(text.c_str(), stdout);
  }
  co_return exit_code::done;
}

Task<int> revoke_token(Cli& cli, Options options) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  const auto target = "/api/v1/node-tokens/" + http::percent_encode(options->id);
  const auto answer = co_await api->call(http::Method::del, target);
  if (!answer) co_return report(answer.error());
  if (!cli.options.json) std::fputs("revoked; no node can enrol with it\n", stdout);
  co_return exit_code::done;
}

Task<int> decide(Cli& cli, Options options, bool is_approved) {
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  json::object body{{"approve", is_approved}, {"fingerprint", options->fingerprint}};
  const auto target = "/api/v1/enrolments/" + http::percent_encode(options->id);
  const auto answer = co_await api->call(http::Method::post, target, json::serialize(body));
  if (!answer) co_return report(answer.error());
  if (!cli.options.json) {
    std::fputs(is_approved ? "approved; the machine becomes a node when it asks again\n"
                           : "denied; the token is of no use any more\n",
               stdout);
  }
  co_return exit_code::done;
}

void add_approval_command(CLI::App& group, const Options& options, Invocation& invocation, bool is_approved) {
  auto* command = group.add_subcommand(
      is_approved ? "approve" : "deny",
      is_approved ? "Let a machine that waits become a node" : "Refuse a machine that waits, and its token");
  command->add_option("id", options->id, "As `outhaul node pending` shows it")->required()->type_name("ID");
  command->add_option("--fingerprint", options->fingerprint, "As the machine itself shows it")
      ->required()
      ->type_name("sha256:HEX");
  add_json_flag(*command, invocation);
  command->callback([&invocation, options, is_approved] {
    invocation.action = [options, is_approved](Cli& cli) { return decide(cli, options, is_approved); };
  });
}

void add_approval_commands(CLI::App& group, const Options& options, Invocation& invocation) {
  auto* pending = group.add_subcommand("pending", "List machines that wait to become nodes");
  add_json_flag(*pending, invocation);
  pending->callback([&invocation] {
    invocation.action = [](Cli& cli) {
      std::vector<Column> columns{text_column("ID", "id"), text_column("NAME", "name"),
                                  text_column("FROM", "address"), text_column("EXPIRES", "expires_at"),
                                  text_column("FINGERPRINT", "fingerprint")};
      return show_list(cli, "/api/v1/enrolments", std::move(columns));
    };
  });
  add_approval_command(group, options, invocation, true);
  add_approval_command(group, options, invocation, false);
}

void add_token_commands(CLI::App& group, const Options& options, Invocation& invocation) {
  auto* token = group.add_subcommand("token", "One-time tokens with which nodes enrol");
  token->require_subcommand(1);
  auto* create = token->add_subcommand("create", "Make a token; prints what to run on the new machine");
  create->add_option("--pool", options->pool, "The pool that the node joins (default: default)")
      ->type_name("P");
  create->add_option("--label", options->labels, "A label of the node; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
  takes_duration(
      create->add_option("--expires-in", options->expires_in, "How long it is good for (default 1h)"));
  create->add_flag("--approve", options->approve,
                   "Wait for an operator to compare the node's fingerprint: `outhaul node pending`");
  add_json_flag(*create, invocation);
  create->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return create_token(cli, options); };
  });
  auto* list = token->add_subcommand("list", "List tokens");
  add_json_flag(*list, invocation);
  list->callback([&invocation] {
    invocation.action = [](Cli& cli) {
      std::vector<Column> columns{text_column("ID", "id"), text_column("POOL", "pool"),
                                  text_column("EXPIRES", "expires_at"), text_column("NODE", "node_id")};
      return show_list(cli, "/api/v1/node-tokens", std::move(columns));
    };
  });
  auto* revoke = token->add_subcommand("revoke", "Make an unused token worthless");
  revoke->add_option("id", options->id, "As `outhaul node token list` shows it")->required()->type_name("ID");
  add_json_flag(*revoke, invocation);
  revoke->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return revoke_token(cli, options); };
  });
}

CLI::App* add_with_node(CLI::App& group, const char* name, const char* what, const Options& options,
                        Invocation& invocation) {
  auto* command = group.add_subcommand(name, what);
  command->add_option("node", options->node, "The node's id or name")->required()->type_name("NODE");
  add_json_flag(*command, invocation);
  return command;
}

}  // namespace

void add_node_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<NodeOptions>();
  auto* group = app.add_subcommand("node", "See and manage nodes");
  group->require_subcommand(1);

  auto* list = group->add_subcommand("list", "List nodes");
  list->add_option("--pool", options->pool, "Only those of this pool")->type_name("P");
  add_json_flag(*list, invocation);
  list->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return list_nodes(cli, options); };
  });

  auto* show = add_with_node(*group, "show", "Show one node", options, invocation);
  show->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return show_one(cli, node_target(options)); };
  });

  auto* drain =
      add_with_node(*group, "drain", "Give the node no new task; what runs goes on", options, invocation);
  drain->add_flag("--undo", options->undo, "Give it tasks again");
  drain->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return drain_node(cli, options); };
  });

  auto* rotate =
      add_with_node(*group, "rotate", "Make the node take a new key; older ones are refused from then on",
                    options, invocation);
  rotate->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return rotate_node(cli, options); };
  });

  auto* remove = add_with_node(*group, "remove", "Remove the node and cut its tunnel", options, invocation);
  remove->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return remove_node(cli, options); };
  });

  add_approval_commands(*group, options, invocation);
  add_token_commands(*group, options, invocation);
}

}  // namespace outhaul::cli
