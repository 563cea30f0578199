// outhaul account create|list|disable, outhaul token create|list|revoke, outhaul whoami

#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "cli/listing.h"
#include "cli/option_text.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct AccountOptions {
  std::string account;
  std::string name;
  std::string role = "member";
  std::string expires_in;
  std::string token_id;
};
using Options = std::shared_ptr<AccountOptions>;  // filled by the parser, read by the action later

Task<int> create_token(Cli& cli, const Options& options) {
  json::object body{{"role", options->role}};
  if (!options->account.empty()) body["account"] = options->account;
  if (!options->name.empty()) body["name"] = options->name;
  if (!options->expires_in.empty()) body["expires_in"] = options->expires_in;
  return send_and_show(cli, http::Method::post, "/api/v1/tokens", json::serialize(body));
}

void add_accounts(CLI::App& app, const Options& options, Invocation& invocation) {
  auto* group = app.add_subcommand("account", "Manage accounts");
  group->require_subcommand(1);
  auto* create = group->add_subcommand("create", "Make an account");
  create->add_option("name", options->name, "Its name, unique")->required();
  add_json_flag(*create, invocation);
  create->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) {
      return send_and_show(cli, http::Method::post, "/api/v1/accounts",
                           json::serialize(json::object{{"name", options->name}}));
    };
  });
  auto* list = group->add_subcommand("list", "List accounts");
  add_json_flag(*list, invocation);
  list->callback([&invocation] {
    invocation.action = [](Cli& cli) {
      std::vector<Column> columns{text_column("NAME", "name"), text_column("DISABLED", "disabled"),
                                  text_column("CREATED", "created_at"), text_column("ID", "id")};
      return show_list(cli, "/api/v1/accounts", std::move(columns));
    };
  });
  auto* disable = group->add_subcommand("disable", "Refuse all its tokens from now on");
  disable->add_option("account", options->account, "Its id or name")->required();
  add_json_flag(*disable, invocation);
  disable->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) {
      return send_and_show(cli, http::Method::post,
                           "/api/v1/accounts/" + http::percent_encode(options->account) + "/disable");
    };
  });
}

void add_tokens(CLI::App& app, const Options& options, Invocation& invocation) {
  auto* group = app.add_subcommand("token", "Manage API tokens");
  group->require_subcommand(1);
  auto* create = group->add_subcommand("create", "Make a token; it is shown once");
  create->add_option("--role", options->role, "admin or member")->check(CLI::IsMember({"admin", "member"}));
  create->add_option("--account", options->account, "For this account (default: our own)");
  create->add_option("--name", options->name, "What it is for");
  takes_duration(
      create->add_option("--expires-in", options->expires_in, "How long it is good for (default: for ever)"));
  add_json_flag(*create, invocation);
  create->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return create_token(cli, options); };
  });
  auto* list = group->add_subcommand("list", "List tokens, never the secrets");
  add_json_flag(*list, invocation);
  list->callback([&invocation] {
    invocation.action = [](Cli& cli) {
      std::vector<Column> columns{text_column("ID", "id"), text_column("ROLE", "role"),
                                  text_column("NAME", "name"), text_column("ACCOUNT", "account_id"),
                                  text_column("EXPIRES", "expires_at")};
      return show_list(cli, "/api/v1/tokens", std::move(columns));
    };
  });
  auto* revoke = group->add_subcommand("revoke", "Refuse a token from now on");
  revoke->add_option("id", options->token_id, "The token's id")->required();
  add_json_flag(*revoke, invocation);
  revoke->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) {
      return send_and_show(cli, http::Method::del,
                           "/api/v1/tokens/" + http::percent_encode(options->token_id));
    };
  });
}

}  // namespace

void add_account_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<AccountOptions>();
  add_accounts(app, options, invocation);
  add_tokens(app, options, invocation);
  auto* whoami = app.add_subcommand("whoami", "Show the account and role of the current context");
  add_json_flag(*whoami, invocation);
  whoami->callback(
      [&invocation] { invocation.action = [](Cli& cli) { return show_one(cli, "/api/v1/whoami"); }; });
}

}  // namespace outhaul::cli
