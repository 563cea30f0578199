// outhaul audit show|verify|export

#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "audit/ocsf.h"
#include "base/duration_text.h"
#include "cli/audit_verify.h"
#include "cli/listing.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct AuditOptions {
  std::string action;
  std::string actor;
  std::string subject;
  std::string outcome;
  std::string since;
  std::string output;
  std::size_t last = 0;
  VerifySources sources;
};
using Options = std::shared_ptr<AuditOptions>;  // filled by the parser, read by the action later

Result<std::string> show_target(const Cli& cli, const AuditOptions& options) {
  std::string target = "/api/v1/audit?";
  const auto add = [&target](const char* name, const std::string& value) {
    if (!value.empty()) target += fmt::format("{}={}&", name, http::percent_encode(value));
  };
  add("action", options.action);
  add("actor", options.actor);
  add("subject", options.subject);
  add("outcome", options.outcome);
  if (!options.since.empty()) {
    const auto span = parse_duration(options.since);
    if (!span) return fail(ErrorCode::invalid, "--since: a duration, such as 24h");
    add("since", std::to_string((cli.clock.wall_now() - *span).nanoseconds));
  }
  target.pop_back();
  return target;
}

std::string fields_text(const json::value& entry) {
  const auto* fields = entry.is_object() ? entry.as_object().if_contains("fields") : nullptr;
  const auto code = text_at(entry, "code");
  const auto more = fields == nullptr ? std::string("-") : labels_text(*fields);
  return code.empty() ? more : code + (more == "-" ? "" : " " + more);
}

Task<int> show_audit(Cli& cli, Options options) {
  auto target = show_target(cli, *options);
  if (!target) co_return report(target.error());
  auto api = Api::open(cli);
  if (!api) co_return report(api.error());
  auto items = co_await api->list(std::move(*target));
  if (!items) co_return report(items.error());
  if (options->last > 0 && items->size() > options->last)
    items->erase(items->begin(), items->end() - static_cast<std::ptrdiff_t>(options->last));
  if (cli.options.json) {
    for (const auto& item : *items) print_json(item);
    co_return exit_code::done;
  }
  Table table({"RECORD", "TIME", "ACTION", "OUTCOME", "ACTOR", "SUBJECT", "DETAILS"});
  for (const auto& item : *items) {
    const auto cell = [&item](const char* key) {
      auto text = shown(text_at(item, key));
      return text.empty() ? std::string("-") : text;
    };
    table.add({cell("sequence"), cell("time"), cell("action"), cell("outcome"), cell("actor"),
               cell("subject"), fields_text(item)});
  }
  table.print();
  co_return exit_code::done;
}

// Takes the hub's log piece by piece.
using Take = std::function<Result<void>(ByteView)>;

Task<Result<void>> fetch_bundle(Cli& cli, Take take) {
  OUTHAUL_CO_TRY(api, Api::open(cli));
  OUTHAUL_CO_TRY(response, co_await api.stream(http::Method::get, "/api/v1/audit/bundle"));
  while (true) {
    OUTHAUL_CO_TRY(piece, co_await response.body->read_some());
    if (piece.empty()) co_return Result<void>();
    OUTHAUL_CO_CHECK(take(piece));
  }
}

// Prints each entry of a bundle as an OCSF event.
class EventPrinter {
 public:
  Result<void> feed(ByteView piece) {
    rest_.append(piece);
    if (log_.empty()) {
      OUTHAUL_TRY(parsed, audit::parse_bundle_head(rest_));
      if (!parsed) return {};
      log_ = parsed->head.log;
      rest_.erase(0, parsed->bytes);
    }
    std::size_t at = 0;
    while (const auto record = audit::parse_record(ByteView(rest_).substr(at))) {
      at += record->size();
      if (record->kind != audit::ChainKind::entry) continue;
      OUTHAUL_TRY(entry, audit::parse_entry(record->payload));
      std::fputs((audit::ocsf_event(entry, {log_, record->sequence}) + "\n").c_str(), stdout);
    }
    rest_.erase(0, at);
    return {};
  }
  Result<void> finish() const {
    if (rest_.empty() && !log_.empty()) return {};
    return fail(ErrorCode::protocol_violation, "the exported log is not whole; see `outhaul audit verify`");
  }

 private:
  std::string log_;
  Bytes rest_;
};

Task<int> export_events(Cli& cli) {
  EventPrinter printer;
  auto exported = co_await fetch_bundle(cli, [&printer](ByteView piece) { return printer.feed(piece); });
  if (exported) exported = printer.finish();
  co_return exported ? exit_code::done : report(exported.error());
}

Task<int> export_bundle(Cli& cli, std::string path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const auto take = [&file, &path](ByteView piece) -> Result<void> {
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (!file) return fail(ErrorCode::unavailable, path + ": cannot be written");
    return {};
  };
  const auto fetched = co_await fetch_bundle(cli, take);
  if (!fetched) co_return report(fetched.error());
  file.flush();
  if (!file) co_return report(Error(ErrorCode::unavailable, path + ": cannot be written"));
  co_return exit_code::done;
}

Task<int> verify_hub(Cli& cli, Options options) {
  audit::BundleVerifier verifier({}, {});
  auto fetched = co_await fetch_bundle(cli, [&verifier](ByteView piece) { return verifier.feed(piece); });
  if (fetched) fetched = verifier.finish();
  if (!fetched) co_return report(fetched.error());
  auto checked = verifier.report();
  compare_keys(checked, options->sources.keys);
  co_return print_reports({checked}, cli.options.json);
}

Task<int> verify_audit(Cli& cli, Options options) {
  if (options->sources.directories.empty() && options->sources.bundles.empty())
    co_return co_await verify_hub(cli, options);
  const auto reports = verify_sources(options->sources);
  if (!reports) co_return report(reports.error());
  co_return print_reports(*reports, cli.options.json);
}

void add_show(CLI::App& group, const Options& options, Invocation& invocation) {
  auto* show = group.add_subcommand("show", "Show entries of the hub's audit log, the oldest first");
  show->add_option("--action", options->action, "Only this action (task.ended), or a group of them (task.)");
  show->add_option("--actor", options->actor, "Only what this account or node did");
  show->add_option("--subject", options->subject, "Only what was done to this task, node or account");
  show->add_option("--outcome", options->outcome, "Only done, refused or failed");
  show->add_option("--since", options->since, "Only the last so much time")->type_name("D");
  show->add_option("--last", options->last, "Only the last so many of those")->type_name("N");
  add_json_flag(*show, invocation);
  show->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return show_audit(cli, options); };
  });
}

void add_verify(CLI::App& group, const Options& options, Invocation& invocation) {
  auto* verify = group.add_subcommand(
      "verify", "Find any change, removal or cut of audit logs; the hub's own without --data or --bundle");
  verify
      ->add_option("--data", options->sources.directories,
                   "A data directory of a hub or node, or a copy of it")
      ->type_name("DIR")
      ->allow_extra_args(false);
  verify->add_option("--bundle", options->sources.bundles, "A file of `outhaul audit export --bundle`")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verify
      ->add_option("--key", options->sources.keys,
                   "The only signer to be believed: sha256:…, as shown before")
      ->type_name("FINGERPRINT")
      ->allow_extra_args(false);
  add_json_flag(*verify, invocation);
  verify->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return verify_audit(cli, options); };
  });
}

}  // namespace

void add_audit_commands(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<AuditOptions>();
  auto* group = app.add_subcommand("audit", "See, verify and export the audit log");
  group->require_subcommand(1);
  add_show(*group, options, invocation);
  add_verify(*group, options, invocation);
  auto* exporting =
      group->add_subcommand("export", "Print every entry as an OCSF event, one line of JSON each");
  exporting
      ->add_option("--bundle", options->output,
                   "Write the log itself to this file instead, to be verified anywhere")
      ->type_name("FILE");
  exporting->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) {
      return options->output.empty() ? export_events(cli) : export_bundle(cli, options->output);
    };
  });
}

}  // namespace outhaul::cli
