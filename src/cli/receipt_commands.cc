// outhaul task receipt show|verify

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>

#include "audit/ocsf.h"
#include "audit/receipt_file.h"
#include "cli/api.h"
#include "cli/context.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

struct ReceiptOptions {
  std::string source;  // a task's id, or a file
  std::string ca_fingerprint;
  std::string output;
};
using Options = std::shared_ptr<ReceiptOptions>;  // filled by the parser, read by the action later

Task<Result<std::string>> load_text(Cli& cli, std::string source) {
  if (TaskId::parse(source)) {
    OUTHAUL_CO_TRY(api, Api::open(cli));
    auto target = fmt::format("/api/v1/tasks/{}/receipt", http::percent_encode(source));
    OUTHAUL_CO_TRY(receipt, co_await api.call(http::Method::get, std::move(target)));
    co_return json::serialize(receipt);
  }
  std::ifstream file(source, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) co_return fail(ErrorCode::not_found, source + ": no such file, and not a task's id");
  co_return std::move(text).str();
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

std::string command_of(const wire::TaskAction& action) {
  if (const auto* argv = std::get_if<wire::ArgvAction>(&action)) return joined(argv->argv);
  if (const auto* shell = std::get_if<wire::ShellAction>(&action)) return "sh -c " + shell->line;
  return "echo " + std::get<wire::EchoAction>(action).text;
}

std::string end_text(const audit::Receipt& receipt) {
  if (receipt.end == "exited") return fmt::format("exited {}", receipt.exit_code);
  if (receipt.end == "signalled") return fmt::format("signal {}", receipt.signal);
  return receipt.end + (receipt.error_code.empty() ? "" : " (" + receipt.error_code + ")");
}

json::object receipt_json(const audit::Receipt& receipt, const std::optional<wire::TaskSpec>& task) {
  json::object object;
  object["task_id"] = receipt.task.text();
  object["node_id"] = receipt.node.text();
  object["owner"] = receipt.owner.text();
  object["task_sha256"] = to_hex(receipt.task_sha256);
  object["isolation"] = wire::name_of(receipt.isolation);
  object["egress_sha256"] = to_hex(receipt.egress_sha256);
  object["executable"] = receipt.executable;
  object["executable_sha256"] = to_hex(receipt.executable_sha256);
  object["end"] = receipt.end;
  object["exit_code"] = receipt.exit_code;
  object["signal"] = receipt.signal;
  object["error_code"] = receipt.error_code;
  object["accepted_at"] = audit::time_text(receipt.accepted_at);
  if (receipt.started_at) object["started_at"] = audit::time_text(*receipt.started_at);
  object["ended_at"] = audit::time_text(receipt.ended_at);
  auto& streams = object["streams"].emplace_object();
  for (const auto& stream : receipt.streams) {
    streams[stream.kind] =
        json::object{{"bytes", stream.totals.bytes}, {"sha256", to_hex(stream.totals.sha256)}};
  }
  object["bytes_left_out"] = receipt.bytes_left_out;
  if (receipt.audit_head) {
    object["audit_head"] = json::object{{"log", receipt.audit_head->log},
                                        {"sequence", receipt.audit_head->tip.sequence},
                                        {"hash", to_hex(receipt.audit_head->tip.hash)}};
  }
  if (task) object["command"] = command_of(task->action);
  return object;
}

void print_line(std::string_view name, std::string_view value) {
  std::fputs(fmt::format("{:<20} {}\n", name, shown(value)).c_str(), stdout);
}

void print_receipt(const json::object& object, const audit::Receipt& receipt) {
  for (const char* member : {"task_id", "owner", "node_id", "command"}) {
    if (const auto text = text_at(object, member); !text.empty()) print_line(member, text);
  }
  print_line("end", end_text(receipt));
  for (const char* member : {"executable", "executable_sha256", "isolation", "egress_sha256", "task_sha256",
                             "accepted_at", "started_at", "ended_at"}) {
    if (const auto text = text_at(object, member); !text.empty()) print_line(member, text);
  }
  for (const auto& stream : receipt.streams) {
    print_line(stream.kind,
               fmt::format("{} bytes, sha256 {}", stream.totals.bytes,
                           stream.totals.sha256.empty() ? "unknown" : to_hex(stream.totals.sha256)));
  }
  if (receipt.audit_head)
    print_line("audit_head",
               fmt::format("record {} of {}", receipt.audit_head->tip.sequence, receipt.audit_head->log));
}

Result<std::optional<wire::TaskSpec>> task_beside(const audit::ReceiptFile& file) {
  if (file.task_envelope.empty()) return std::optional<wire::TaskSpec>();
  OUTHAUL_TRY(envelope, wire::parse_envelope(file.task_envelope));
  OUTHAUL_TRY(spec, wire::parse_task_spec(envelope.payload));
  return std::optional(std::move(spec));
}

Task<int> show_receipt(Cli& cli, Options options) {
  const auto text = co_await load_text(cli, options->source);
  if (!text) co_return report(text.error());
  if (!options->output.empty()) {
    std::ofstream file(options->output, std::ios::binary | std::ios::trunc);
    file << *text << "\n" << std::flush;
    if (!file) co_return report(Error(ErrorCode::unavailable, options->output + ": cannot be written"));
    co_return exit_code::done;
  }
  const auto file = audit::parse_receipt_file(*text);
  if (!file) co_return report(file.error());
  const auto receipt = audit::assume_receipt(file->receipt);
  if (!receipt) co_return report(receipt.error());
  const auto task = task_beside(*file);
  if (!task) co_return report(task.error());
  const auto object = receipt_json(*receipt, *task);
  if (cli.options.json) {
    print_json(object);
  } else {
    print_receipt(object, *receipt);
  }
  co_return exit_code::done;
}

// What the caller says, else the CA that the context trusts anyway.
Result<crypto::Fingerprint> anchor_of(const Cli& cli, const ReceiptOptions& options) {
  if (!options.ca_fingerprint.empty()) return crypto::Fingerprint::parse(options.ca_fingerprint);
  const auto file = ContextFile::load(ContextFile::default_path());
  const auto* context = file ? file->find(cli.options.context) : nullptr;
  if (context == nullptr)
    return fail(ErrorCode::invalid,
                "give --ca-fingerprint: without a context nothing says which CA to trust");
  return crypto::Fingerprint::parse(context->ca_fingerprint);
}

Task<int> verify_receipt(Cli& cli, Options options) {
  const auto anchor = anchor_of(cli, *options);
  if (!anchor) co_return report(anchor.error());
  const auto text = co_await load_text(cli, options->source);
  if (!text) co_return report(text.error());
  const auto file = audit::parse_receipt_file(*text);
  if (!file) co_return report(file.error());
  const auto check = audit::verify_receipt_file(*file, *anchor);
  if (cli.options.json) {
    json::object object = check ? receipt_json(check->receipt, check->task) : json::object();
    object["valid"] = check.has_value();
    object["error_code"] =
        check ? std::string(text_at(object, "error_code")) : std::string(name_of(check.error().code()));
    if (!check) object["why"] = check.error().what();
    if (check) object["signer"] = check->signer;
    print_json(object);
    co_return check ? exit_code::done : exit_code::failed;
  }
  if (!check) co_return report(check.error());
  std::fputs(fmt::format("valid: signed by {}\n       certified by the CA {}\n", shown(check->signer),
                         check->authority)
                 .c_str(),
             stdout);
  if (check->task) std::fputs("       the signed task beside it is the one that ran\n", stdout);
  print_receipt(receipt_json(check->receipt, check->task), check->receipt);
  co_return exit_code::done;
}

}  // namespace

void add_receipt_commands(CLI::App& task_group, Invocation& invocation) {
  const auto options = std::make_shared<ReceiptOptions>();
  auto* group = task_group.add_subcommand("receipt", "What a node states under its signature about a task");
  group->require_subcommand(1);
  auto* show = group->add_subcommand("show", "Show a receipt, or save it");
  show->add_option("source", options->source, "The task's id, or a saved receipt")->required();
  show->add_option("--output", options->output, "Save it to this file")->type_name("FILE");
  add_json_flag(*show, invocation);
  show->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return show_receipt(cli, options); };
  });
  auto* verify = group->add_subcommand("verify", "Check a receipt; of a saved one without asking anybody");
  verify->add_option("source", options->source, "The task's id, or a saved receipt")->required();
  verify
      ->add_option("--ca-fingerprint", options->ca_fingerprint,
                   "The deployment's CA (default: the context's)")
      ->type_name("sha256:…");
  add_json_flag(*verify, invocation);
  verify->callback([&invocation, options] {
    invocation.action = [options](Cli& cli) { return verify_receipt(cli, options); };
  });
}

}  // namespace outhaul::cli
