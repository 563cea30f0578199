// outhaul login, outhaul logout, outhaul context list|use|remove

#include <cstdio>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/listing.h"
#include "cli/terminal.h"
#include "crypto/data_files.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct LoginOptions {
  std::string url;
  std::string token;
  std::string token_file;
  std::string ca_fingerprint;
  std::string name;
};
using Options = std::shared_ptr<LoginOptions>;  // filled by the parser, read by the action later

std::string trimmed(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  return last == text.npos ? std::string() : std::string(text.substr(0, last + 1));
}

// `--token -` and no token at all read standard input: argv is visible to everybody on the machine.
Result<Secret> read_token(const LoginOptions& options) {
  if (!options.token_file.empty()) {
    OUTHAUL_TRY(text, crypto::read_private_file(options.token_file, 4096));
    return Secret(trimmed(text.reveal_for("login")));
  }
  if (!options.token.empty() && options.token != "-") return Secret(options.token);
  if (::isatty(STDIN_FILENO) == 1) std::fputs("API token: ", stderr);
  std::string line;
  std::getline(std::cin, line);
  if (line.empty())
    return fail(ErrorCode::invalid, "no token: give --token T, --token-file F or standard input");
  return Secret(trimmed(line));
}

// The fingerprint to believe: the one given, else the one that a context for this hub already has.
Result<std::string> known_fingerprint(const ContextFile& file, const LoginOptions& options,
                                      const http::Url& url) {
  if (!options.ca_fingerprint.empty()) return options.ca_fingerprint;
  for (const auto& context : file.contexts()) {
    if (context.url == url.text()) return context.ca_fingerprint;
  }
  return fail(
      ErrorCode::invalid,
      "this hub is not known yet: give --ca-fingerprint sha256:..., which the hub prints at its start");
}

Task<int> log_in(Cli& cli, Options options) {
  auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  const auto url = http::parse_url(options->url);
  if (!url) co_return report(url.error());
  auto fingerprint = known_fingerprint(*file, *options, *url);
  if (!fingerprint) co_return report(fingerprint.error());
  auto token = read_token(*options);
  if (!token) co_return report(token.error());
  Context context;
  context.name = options->name.empty() ? url->host : options->name;
  context.url = url->text();
  context.token = std::move(*token);
  context.ca_fingerprint = *fingerprint;
  auto api = Api::open(cli, context);
  if (!api) co_return report(api.error());
  const auto who = co_await api->call(http::Method::get, "/api/v1/whoami");
  if (!who) co_return report(who.error());
  const auto name = context.name;
  file->put(std::move(context));
  if (const auto saved = file->save(); !saved) co_return report(saved.error());
  if (cli.options.json) {
    print_json(*who);
  } else {
    std::fputs(fmt::format("logged in to {} as {} ({}); context '{}'\n", url->text(),
                           shown(text_at(*who, "account_name")), shown(text_at(*who, "role")), name)
                   .c_str(),
               stdout);
  }
  co_return exit_code::done;
}

Task<int> list_contexts(Cli& cli) {
  const auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  json::array items;
  Table table({"CURRENT", "NAME", "URL", "CA FINGERPRINT"});
  for (const auto& context : file->contexts()) {
    const bool is_current = context.name == file->current();
    items.push_back(json::object{{"name", context.name},
                                 {"url", context.url},
                                 {"ca_fingerprint", context.ca_fingerprint},
                                 {"current", is_current}});
    table.add({is_current ? "*" : "", context.name, context.url, context.ca_fingerprint});
  }
  if (cli.options.json) {
    print_json(items);
  } else {
    table.print();
  }
  co_return exit_code::done;
}

enum class Change { use, remove };

Task<int> change_contexts(Change change, std::string name) {
  auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  const bool is_known = change == Change::use ? file->use(name) : file->remove(name);
  if (!is_known)
    co_return report(Error(ErrorCode::not_found, "no context of that name: see `outhaul context list`"));
  if (const auto saved = file->save(); !saved) co_return report(saved.error());
  co_return exit_code::done;
}

void add_login(CLI::App& app, const Options& options, Invocation& invocation) {
  auto* login = app.add_subcommand("login", "Keep a hub and a token for later commands");
  login->add_option("url", options->url, "The hub: https://HOST[:PORT]")->required();
  login->add_option("--token", options->token, "The API token; - reads it from standard input")
      ->type_name("T");
  login->add_option("--token-file", options->token_file, "A private file that holds the token")
      ->type_name("F");
  login->add_option("--ca-fingerprint", options->ca_fingerprint, "The only CA to believe")
      ->type_name("sha256:HEX");
  login->add_option("--name", options->name, "Name of the context (default: the host)");
  add_json_flag(*login, invocation);
  login->callback(
      [&invocation, options] { invocation.action = [options](Cli& cli) { return log_in(cli, options); }; });
}

void add_change(CLI::App& group, Change change, const char* word, const char* what, const Options& options,
                Invocation& invocation) {
  auto* command = group.add_subcommand(word, what);
  command->add_option("name", options->name, "The context")->required();
  command->callback([&invocation, options, change] {
    invocation.action = [options, change](Cli&) { return change_contexts(change, options->name); };
  });
}

}  // namespace

void add_context_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<LoginOptions>();
  add_login(app, options, invocation);
  auto* group = app.add_subcommand("context", "Choose the hub that commands speak to");
  group->require_subcommand(1);
  auto* list = group->add_subcommand("list", "List contexts");
  add_json_flag(*list, invocation);
  list->callback([&invocation] { invocation.action = [](Cli& cli) { return list_contexts(cli); }; });
  add_change(*group, Change::use, "use", "Make a context the current one", options, invocation);
  add_change(*group, Change::remove, "remove", "Forget a context and its token", options, invocation);
}

}  // namespace outhaul::cli
