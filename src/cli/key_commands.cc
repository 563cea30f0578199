// outhaul key create|add|list|remove

#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "cli/listing.h"
#include "cli/user_keys.h"
#include "crypto/user_key.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct KeyOptions {
  std::string name = default_key_name;
  std::string id;
};
using Options = std::shared_ptr<KeyOptions>;  // filled by the parser, read by the action later

// The public key alone on standard output, for scripts; what to do with it beside that.
Task<int> create_key(Cli& cli, Options options) {
  const auto key = create_user_key(options->name, cli.random);
  if (!key) co_return report(key.error());
  const auto text = crypto::user_key_text(key->verify_key());
  if (cli.options.json) {
    print_json(json::object{{"name", options->name},
                            {"public_key", text},
                            {"id", crypto::user_key_id(key->verify_key()).text()},
                            {"path", user_key_path(options->name).value()}});
    co_return exit_code::done;
  }
  std::fputs((text + "\n").c_str(), stdout);
  std::fputs(fmt::format("outhaul: the private half is in {} and stays there\n"
                         "outhaul: register it with your account: outhaul key add{}\n"
                         "outhaul: a node that asks for your signature trusts it by its own node.yaml:\n"
                         "    require_user_signature: true\n"
                         "    user_keys:\n"
                         "      - key: {}\n",
                         user_key_path(options->name).value(),
                         options->name == default_key_name ? "" : " --name " + options->name, text)
                 .c_str(),
             stderr);
  co_return exit_code::done;
}

Task<int> add_key(Cli& cli, Options options) {
  const auto key = load_user_key(options->name);
  if (!key) co_return report(key.error());
  const json::object body{{"public_key", crypto::user_key_text(key->verify_key())}, {"name", options->name}};
  co_return co_await send_and_show(cli, http::Method::post, "/api/v1/keys", json::serialize(body));
}

Task<int> list_keys(Cli& cli) {
  std::vector<Column> columns{text_column("NAME", "name"), text_column("PUBLIC KEY", "public_key"),
                              text_column("ACCOUNT", "account_id"), text_column("ID", "id")};
  return show_list(cli, "/api/v1/keys", std::move(columns));
}

Task<int> remove_key(Cli& cli, const Options& options) {
  return send_and_show(cli, http::Method::del, "/api/v1/keys/" + http::percent_encode(options->id));
}

template <class Run>
CLI::App* add_command(CLI::App& group, const char* word, const char* what, Invocation& invocation, Run run) {
  auto* command = group.add_subcommand(word, what);
  add_json_flag(*command, invocation);
  command->callback([&invocation, run] { invocation.action = run; });
  return command;
}

}  // namespace

void add_key_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<KeyOptions>();
  auto* group = app.add_subcommand("key", "Your own signing keys, for nodes that ask for your signature");
  group->require_subcommand(1);
  auto* create = add_command(*group, "create", "Make a key; its private half never leaves this machine",
                             invocation, [options](Cli& cli) { return create_key(cli, options); });
  auto* add = add_command(*group, "add", "Register the public half with your account at the hub", invocation,
                          [options](Cli& cli) { return add_key(cli, options); });
  for (auto* command : {create, add}) {
    command->add_option("--name", options->name, "Which of your keys (default: default)")->type_name("NAME");
  }
  add_command(*group, "list", "List the public keys that are registered", invocation,
              [](Cli& cli) { return list_keys(cli); });
  auto* remove = add_command(*group, "remove",
                             "Forget a public key at the hub; nodes trust it until their owners change that",
                             invocation, [options](Cli& cli) { return remove_key(cli, options); });
  remove->add_option("id", options->id, "The key's id")->required()->type_name("ID");
}

}  // namespace outhaul::cli
