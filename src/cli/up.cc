#include "cli/up.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/remedy.h"
#include "base/within.h"
#include "cli/terminal.h"
#include "crypto/data_directory.h"
#include "crypto/data_files.h"

namespace outhaul::cli {
namespace {

constexpr auto start_limit = std::chrono::seconds(30);
// The node of an `up` that was killed holds its directory while it drains.
constexpr auto earlier_node_limit = std::chrono::seconds(90);
constexpr auto poll_pause = std::chrono::milliseconds(20);
constexpr auto drain_limit = std::chrono::seconds(35);
constexpr auto hub_stop_limit = std::chrono::seconds(10);
// A program that lived this long was well: the next pause is the shortest again.
constexpr auto healthy_life = std::chrono::seconds(5);
constexpr const char* deployment = "outhaul.internal";
constexpr const char* context_name = "local";

std::string default_data() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return std::string(state) + "/outhaul";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : ".") + "/.local/state/outhaul";
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "local";
  name.resize(name.find('\0'));
  return name.empty() ? "local" : name;
}

void say(const std::string& text) {
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

// The first line after `begin` in which one of our programs says why it ends: "outhaul-hub: ...".
std::string fault_in_log(const std::string& path, std::uintmax_t begin) {
  std::ifstream log(path);
  log.seekg(static_cast<std::streamoff>(begin));
  constexpr std::string_view mark = "outhaul-";
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with(mark) && line.find(": ") != line.npos)
      return shown(line.substr(line.find(": ") + 2));
  }
  return "";
}

std::string trimmed(std::string_view text) {
  const auto last = text.find_last_not_of("\r\n ");
  return last == text.npos ? std::string() : std::string(text.substr(0, last + 1));
}

}  // namespace

Up::Up(Cli& cli, UpOptions options)
    : cli_(cli),
      options_(std::move(options)),
      programs_(program_directory()),
      keepers_(cli.executor),
      stopping_(cli.executor) {
  if (options_.data.empty()) options_.data = default_data();
}

Task<int> Up::run() {
  keepers_.spawn([this] { return watch_signals(); });
  auto started = co_await start();
  if (started) {
    print_welcome();
    co_await stopping_.wait();
    say("draining: running tasks have 30 seconds to end; press Ctrl-C again to stop at once");
  } else {
    report(started.error());
  }
  stopping_.set();
  co_await stop(node_, drain_limit);
  co_await stop(hub_, hub_stop_limit);
  keepers_.cancel();
  co_await keepers_.join();
  if (is_only_one_) remove_ready_file();
  co_return started ? exit_code::done : exit_code::failed;
}

Task<Result<void>> Up::start() {
  std::error_code fault;
  std::filesystem::create_directories(options_.data, fault);
  std::filesystem::permissions(options_.data, std::filesystem::perms::owner_all, fault);
  if (fault)
    co_return fail(ErrorCode::unavailable, fmt::format("make {}: {}", options_.data, fault.message()));
  OUTHAUL_CO_CHECK(check_unused());
  is_only_one_ = true;
  // One that was killed leaves it, and whoever waits for it would believe it.
  remove_ready_file();
  OUTHAUL_CO_CHECK(co_await prepare_hub());
  OUTHAUL_CO_TRY(ready, co_await start_hub());
  ready_ = ready;
  OUTHAUL_CO_CHECK(keep_context());
  OUTHAUL_CO_TRY(api, Api::open(cli_));
  OUTHAUL_CO_CHECK(co_await prepare_node(api));
  node_.name = "node";
  node_.spec = {
      .argv = {programs_ + "/outhaul-node", "run", "--data", node_data(), "--hub", ready_.url, "--end-tasks"},
      .log_path = options_.data + "/node.log",
      .stdin_text = {}};
  OUTHAUL_CO_CHECK(co_await await_earlier_node());
  OUTHAUL_CO_CHECK(launch(node_));
  keepers_.spawn([this] { return keep(node_); });
  OUTHAUL_CO_CHECK(co_await wait_attached(api));
  co_return write_ready_file();
}

// Said before anything is started: what a second hub would say stands in a log.
Result<void> Up::check_unused() const {
  const auto held = crypto::DataDirectory::open(hub_data(), crypto::DataOwner::hub);
  if (held || held.error().code() != ErrorCode::data_locked) return {};
  return fail(
      with_remedy(held.error(),
                  fmt::format("`outhaul up` runs there already: `outhaul run` reaches it (context '{}'), its "
                              "Ctrl-C ends it; for a second one give --data and --listen",
                              context_name)));
}

// The node of an `up` that was killed drains: it dials a hub that is gone, and nobody else can use its
// directory.
Task<Result<void>> Up::await_earlier_node() {
  const auto deadline = cli_.clock.now() + earlier_node_limit;
  for (bool is_first = true;; is_first = false) {
    const auto held = crypto::DataDirectory::open(node_data(), crypto::DataOwner::node);
    if (held || held.error().code() != ErrorCode::data_locked) co_return Result<void>();
    if (is_first)
      say("an earlier node still ends its work; waiting for it: " + std::string(held.error().what()));
    if (stopping_.is_set()) co_return fail(ErrorCode::cancelled, "stopped before the node was attached");
    if (cli_.clock.now() >= deadline) co_return fail(held.error());
    co_await cli_.clock.sleep_for(poll_pause);
  }
}

// The program's own last words, which are in its log.
Error Up::not_started(const Kept& kept, std::string what) const {
  const auto words = fault_in_log(kept.spec.log_path, kept.log_begin);
  if (words.empty()) return {ErrorCode::unavailable, fmt::format("{}; see {}", what, kept.spec.log_path)};
  return {ErrorCode::unavailable, fmt::format("{}: {}; see {}", what, words, kept.spec.log_path)};
}

Task<Result<void>> Up::run_to_end(ChildSpec spec, std::string what) {
  OUTHAUL_CO_TRY(child, ChildProcess::start(cli_.executor, spec));
  const int status = co_await child->wait();
  if (status == 0) co_return Result<void>();
  co_return fail(ErrorCode::spawn_failed,
                 fmt::format("{} {}; see {}", what, end_text(status), spec.log_path));
}

Task<Result<void>> Up::prepare_hub() {
  // Written last: without it `init` was not run, or not to its end.
  if (std::filesystem::exists(hub_data() + "/hub.json")) co_return Result<void>();
  say("setting up a hub in " + hub_data());
  ChildSpec spec{
      .argv = {programs_ + "/outhaul-hub", "init", "--data", hub_data(), "--deployment", deployment},
      .log_path = options_.data + "/hub.log",
      .stdin_text = {}};
  co_return co_await run_to_end(std::move(spec), "outhaul-hub init");
}

Task<Result<Up::Ready>> Up::start_hub() {
  const auto ready_path = options_.data + "/hub-ready.json";
  ::unlink(ready_path.c_str());
  hub_.name = "hub";
  hub_.spec = {.argv = {programs_ + "/outhaul-hub", "serve", "--data", hub_data(), "--listen",
                        options_.listen, "--ready-file", ready_path},
               .log_path = options_.data + "/hub.log",
               .stdin_text = {}};
  OUTHAUL_CO_CHECK(launch(hub_));
  const auto deadline = cli_.clock.now() + start_limit;
  while (!std::filesystem::exists(ready_path)) {
    if (stopping_.is_set()) co_return fail(ErrorCode::cancelled, "stopped before the hub was ready");
    const bool has_ended =
        co_await within(cli_.clock, cli_.clock.now() + poll_pause,
                        [](ChildProcess& process) -> Task<void> { co_await process.wait(); }(*hub_.process));
    if (has_ended || cli_.clock.now() >= deadline) {
      co_return fail(not_started(hub_, "the hub did not start"));
    }
  }
  OUTHAUL_CO_TRY(text, crypto::read_trusted_file(ready_path, 65536));
  boost::system::error_code fault;
  const auto parsed = json::parse(text, fault);
  if (fault) co_return fail(ErrorCode::internal, "the hub's ready file is no JSON");
  Ready ready{text_at(parsed, "url"), text_at(parsed, "ca_fingerprint")};
  // Started again after a death it must come back at the same address, also when any port would have done.
  hub_.spec.argv[5] = ready.url.substr(ready.url.find("//") + 2);
  keepers_.spawn([this] { return keep(hub_); });
  co_return ready;
}

Task<Result<void>> Up::prepare_node(Api& api) {
  const bool is_enrolled = std::filesystem::exists(node_data() + "/identity.json");
  if (is_enrolled && !std::filesystem::exists(token_path())) co_return Result<void>();
  if (!is_enrolled) OUTHAUL_CO_CHECK(co_await enrol_node(api, false));
  // The node owner's own permission, without which the node runs nothing without a sandbox.
  OUTHAUL_CO_CHECK(
      crypto::write_private_file(node_data() + "/node.yaml", "version: 1\nisolation: [trusted]\n"));
  ::unlink(token_path().c_str());
  co_return Result<void>();
}

Task<Result<void>> Up::enrol_node(Api& api, bool is_last_try) {
  say("enrolling this machine as a node in " + node_data());
  OUTHAUL_CO_TRY(token, co_await enrolment_token(api));
  ChildSpec spec{
      .argv = {programs_ + "/outhaul-node", "enroll", "--hub", ready_.url, "--ca-fingerprint",
               ready_.ca_fingerprint, "--token", "-", "--data", node_data(), "--name", host_name()},
      .log_path = options_.data + "/node.log",
      .stdin_text = std::string(token.reveal_for("enrol")) + "\n"};
  auto enrolled = co_await run_to_end(std::move(spec), "outhaul-node enroll");
  if (enrolled || is_last_try) co_return enrolled;
  // A token that was kept may be too old, or of another hub; or the name is that of a node whose directory is
  // gone.
  ::unlink(token_path().c_str());
  OUTHAUL_CO_CHECK(co_await remove_lost_node(api));
  co_return co_await enrol_node(api, true);
}

// The hub knows this machine and the machine does not: its directory was deleted, and with it what ran there.
Task<Result<void>> Up::remove_lost_node(Api& api) {
  OUTHAUL_CO_TRY(nodes, co_await api.list("/api/v1/nodes"));
  for (const auto& node : nodes) {
    if (text_at(node, "name") != host_name() || text_at(node, "health") == "attached") continue;
    say(fmt::format("the directory of node {} is gone: it is removed from the hub, and what it ran is lost",
                    host_name()));
    OUTHAUL_CO_CHECK(co_await api.call(http::Method::del, "/api/v1/nodes/" + text_at(node, "id")));
  }
  co_return Result<void>();
}

Task<Result<Secret>> Up::enrolment_token(Api& api) {
  if (auto kept = crypto::read_private_file(token_path(), 4096)) co_return std::move(kept);
  OUTHAUL_CO_TRY(made, co_await api.call_patiently(http::Method::post, "/api/v1/node-tokens", "{}"));
  Secret token(text_at(made, "token"));
  OUTHAUL_CO_CHECK(crypto::write_private_file(token_path(), token.reveal_for("keep it until enrolled")));
  co_return std::move(token);
}

Task<Result<void>> Up::wait_attached(Api& api) {
  const auto deadline = cli_.clock.now() + start_limit;
  for (;;) {
    const auto nodes = co_await api.list("/api/v1/nodes");
    if (nodes) {
      for (const auto& node : *nodes) {
        if (text_at(node, "health") == "attached") co_return Result<void>();
      }
    } else {
      api.reset();
    }
    if (stopping_.is_set()) co_return fail(ErrorCode::cancelled, "stopped before the node was attached");
    if (cli_.clock.now() >= deadline) {
      co_return fail(not_started(node_, "the node did not attach"));
    }
    co_await cli_.clock.sleep_for(poll_pause);
  }
}

Result<void> Up::keep_context() {
  OUTHAUL_TRY(token, crypto::read_private_file(hub_data() + "/admin-token", 4096));
  OUTHAUL_TRY(file, ContextFile::load(ContextFile::default_path()));
  Context context;
  context.name = context_name;
  context.url = ready_.url;
  context.token = Secret(trimmed(token.reveal_for("context")));
  context.ca_fingerprint = ready_.ca_fingerprint;
  const auto before = file.outline();
  file.put(std::move(context));
  for (const auto& line : change_lines(before, file)) say(line);
  return file.save();
}

void Up::remove_ready_file() const {
  if (!options_.ready_file.empty()) ::unlink(options_.ready_file.c_str());
}

Result<void> Up::write_ready_file() const {
  if (options_.ready_file.empty()) return {};
  const json::object ready{
      {"url", ready_.url}, {"ca_fingerprint", ready_.ca_fingerprint}, {"pid", ::getpid()}};
  return crypto::write_public_file(options_.ready_file, json::serialize(ready) + "\n");
}

void Up::print_welcome() const {
  say(fmt::format("\nhub    {}\nCA     {}\nnode   {} (attached)\ndata   {}\n", ready_.url,
                  ready_.ca_fingerprint, host_name(), options_.data));
  say("Tasks run as this user with no sandbox (isolation level `trusted`): run only what you would run "
      "yourself.");
  say(fmt::format("That permission stands in {}/node.yaml.\n", node_data()));
  say("Try in a second terminal:\n"
      "  outhaul run -- uname -a\n"
      "  outhaul node list\n"
      "  outhaul task list\n\n"
      "Ctrl-C drains and stops.");
}

Result<void> Up::launch(Kept& kept) {
  std::error_code none_yet;
  kept.log_begin = std::filesystem::file_size(kept.spec.log_path, none_yet);
  if (none_yet) kept.log_begin = 0;
  OUTHAUL_TRY(process, ChildProcess::start(cli_.executor, kept.spec));
  kept.process = std::move(process);
  return {};
}

Task<void> Up::keep(Kept& kept) {
  int failures = 0;
  for (;;) {
    const auto started = cli_.clock.now();
    const int status = co_await kept.process->wait();
    if (stopping_.is_set()) co_return;
    failures = cli_.clock.now() - started >= healthy_life ? 0 : failures + 1;
    say(fmt::format("the {} {}; starting it again", kept.name, end_text(status)));
    if (failures > 1) co_await cli_.clock.sleep_for(retry_pause(failures));
    while (!stopping_.is_set()) {
      const auto launched = launch(kept);
      if (launched) break;
      report(launched.error());
      co_await cli_.clock.sleep_for(retry_pause(++failures));
    }
    if (stopping_.is_set()) co_return;
  }
}

Task<void> Up::watch_signals() {
  asio::signal_set signals(cli_.executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  stopping_.set();
  co_await signals.async_wait(asio::use_awaitable);
  if (node_.process) node_.process->signal(SIGKILL);
  if (hub_.process) hub_.process->signal(SIGKILL);
}

Task<void> Up::stop(Kept& kept, Duration limit) {
  if (!kept.process) co_return;
  kept.process->signal(SIGTERM);
  const auto deadline = cli_.clock.now() + limit;
  // keep() may be the one that waits for it; poll rather than wait twice.
  while (!kept.process->has_ended() && cli_.clock.now() < deadline) co_await cli_.clock.sleep_for(poll_pause);
  kept.process->signal(SIGKILL);
}

}  // namespace outhaul::cli
