// outhaul login, outhaul context list|use|remove

#include <cstdio>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/listing.h"
#include "cli/terminal.h"
#include "crypto/secret_source.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct LoginOptions {
  std::string url;
  std::string token;
  std::string token_file;
  std::string ca_fingerprint;
  std::string name;
  bool sign = false;  // neither of the two: as it was
  bool no_sign = false;
};
using Options = std::shared_ptr<LoginOptions>;  // filled by the parser, read by the action later

// On standard error: what a script reads of a command stays what it was.
void say_changes(const ContextFile& before, const ContextFile& now) {
  for (const auto& line : change_lines(before, now)) std::fputs(("outhaul: " + line + "\n").c_str(), stderr);
}

// What the hub shows is believed only once a person has compared it.
Result<std::string> ask_for_trust(const std::string& shown) {
  std::fputs(fmt::format("This hub is not known yet. Its CA has the fingerprint\n  {}\n"
                         "Compare it with what `outhaul-hub init` printed. Is it the same? [y/N] ",
                         shown)
                 .c_str(),
             stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return shown;
  return fail(ErrorCode::ca_fingerprint_mismatch, "not trusted; nothing was sent to it");
}

// Breaks the handshake off as soon as the hub has shown its chain: no token goes to a stranger.
Task<Result<std::string>> shown_fingerprint(Cli& cli, std::string url) {
  Context nobody;
  nobody.url = std::move(url);
  nobody.ca_fingerprint = "sha256:" + std::string(64, '0');
  OUTHAUL_CO_TRY(api, Api::open(cli, nobody));
  const auto answer = co_await api.call(http::Method::get, "/api/v1/whoami");
  if (answer) co_return fail(ErrorCode::internal, "a hub without a CA was believed");
  for (const auto& detail : answer.error().details()) {
    if (detail.name == "shown") co_return detail.value;
  }
  co_return fail(answer.error());
}

// The fingerprint to believe: the one given, else the one that a context for this hub already has, else what
// a person at the terminal says.
Task<Result<std::string>> trusted_fingerprint(Cli& cli, const ContextFile& file, Options options,
                                              http::Url url) {
  if (!options->ca_fingerprint.empty()) co_return options->ca_fingerprint;
  for (const auto& context : file.contexts()) {
    if (context.url == url.text()) co_return context.ca_fingerprint;
  }
  if (::isatty(STDIN_FILENO) == 1 && stderr_is_terminal()) {
    OUTHAUL_CO_TRY(shown, co_await shown_fingerprint(cli, url.text()));
    co_return ask_for_trust(shown);
  }
  co_return fail(
      ErrorCode::invalid,
      "this hub is not known yet: give --ca-fingerprint sha256:..., which `outhaul-hub init` printed");
}

Task<int> log_in(Cli& cli, Options options) {
  auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  const auto url = http::parse_url(options->url);
  if (!url) co_return report_usage(url.error());
  auto fingerprint = co_await trusted_fingerprint(cli, *file, options, *url);
  if (!fingerprint) co_return report(fingerprint.error());
  auto token = crypto::read_secret({"API token", options->token_file, options->token});
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
  const auto before = file->outline();
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
  say_changes(before, *file);
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
                                 {"current", is_current},
                                 {"sign", context.signs}});
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

Task<int> change_contexts(Change change, Options options) {
  const auto& name = options->name;
  auto file = ContextFile::load(ContextFile::default_path());
  if (!file) co_return report(file.error());
  const auto before = file->outline();
  const bool is_known = change == Change::use ? file->use(name) : file->remove(name);
  if (!is_known)
    co_return report(Error(ErrorCode::not_found, "no context of that name: see `outhaul context list`"));
  if (options->sign || options->no_sign) file->set_signs(name, options->sign);
  if (const auto saved = file->save(); !saved) co_return report(saved.error());
  say_changes(before, *file);
  if (change == Change::remove && file->contexts().empty())
    std::fputs("outhaul: no hub is known any more: `outhaul login URL`, or `outhaul up`\n", stderr);
  co_return exit_code::done;
}

void add_login(CLI::App& app, const Options& options, Invocation& invocation) {
  auto* login = app.add_subcommand("login", "Keep a hub and an API token for later commands");
  login->add_option("url", options->url, "The hub: https://HOST[:PORT]")->required()->type_name("URL");
  login
      ->add_option(
          "--token", options->token,
          "The API token; - reads standard input, as without any of these ways; given here it may stay "
          "in your shell's history")
      ->type_name("T");
  login
      ->add_option("--token-file", options->token_file,
                   "A private file that holds the token; else OUTHAUL_TOKEN in the environment")
      ->type_name("F");
  login
      ->add_option("--ca-fingerprint", options->ca_fingerprint,
                   "The only CA to believe, as `outhaul-hub init` printed it")
      ->type_name("sha256:HEX");
  login->add_option("--name", options->name, "Name of the context (default: the host)")->type_name("NAME");
  add_json_flag(*login, invocation);
  login->callback(
      [&invocation, options] { invocation.action = [options](Cli& cli) { return log_in(cli, options); }; });
}

void add_change(CLI::App& group, Change change, const char* word, const char* what, const Options& options,
                Invocation& invocation) {
  auto* command = group.add_subcommand(word, what);
  command->add_option("name", options->name, "The context")->required();
  if (change == Change::use) {
    auto* sign =
        command->add_flag("--sign", options->sign, "From now on sign every run in it with your own key");
    command->add_flag("--no-sign", options->no_sign, "No longer")->excludes(sign);
  }
  command->callback([&invocation, options, change] {
    invocation.action = [options, change](Cli&) { return change_contexts(change, options); };
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
