#include "main/node_program.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/remedy.h"
#include "base/system_clock.h"
#include "base/task_group.h"
#include "crypto/secret_source.h"
#include "crypto/system_random.h"
#include "main/executed_files.h"
#include "main/exit_status.h"
#include "main/fault_report.h"
#include "main/file_thread.h"
#include "main/log_sinks.h"
#include "main/node_facts.h"
#include "main/owner_files.h"
#include "main/owner_socket.h"
#include "main/run_on_loop.h"
#include "main/service_manager.h"
#include "main/stop_signals.h"
#include "main/stream_directory.h"
#include "main/websocket_dialer.h"
#include "node/enrolment/enrol.h"
#include "node/enrolment/https_renewal.h"
#include "node/enrolment/hub_request.h"
#include "node/node.h"
#include "node/owner/lock_file.h"
#include "node/owner/machine_files.h"
#include "node/owner/owner_requests.h"
#include "sandbox/launcher_client.h"
#include "stream/file_disk.h"

namespace outhaul {
namespace {

Result<void> make_directory(const std::filesystem::path& path) {
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) return fail(ErrorCode::unavailable, path.string() + ": " + fault.message());
  return {};
}

void raise_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// One node process: everything that `run` needs, in the order of its needs.
class NodeProcess {
 public:
  static Result<std::unique_ptr<NodeProcess>> make(const NodeOptions& options);
  // Runs until a stop signal and its drain. An Error is why it cannot start or go on.
  Result<void> run();
  bool has_disk_failed() const { return has_disk_failed_; }
  // Instead of run(): one request of the owner, and nothing starts.
  Result<Bytes> serve_owner(Bytes request);

 private:
  NodeProcess(const NodeOptions& options, crypto::DataDirectory data, node::Identity identity)
      : options_(options), data_(std::move(data)), identity_(std::move(identity)), lock_(data_.path()) {}

  Result<void> prepare();
  Result<void> make_dialer();
  void make_node();
  void note_launcher(bool answers) const;
  Task<void> live();
  Task<Result<Bytes>> serve_owner_once(Bytes request);
  void say_what_is_allowed() const;
  Task<void> watch_end();
  Task<void> await_end();
  Task<Result<void>> depart();
  Task<void> hear_owner(OwnerSocket& owner);

  NodeOptions options_;
  crypto::DataDirectory data_;
  node::Identity identity_;
  node::LockFile lock_;
  node::MachineFiles files_;
  node::NodeConfig config_;
  SystemClock clock_;
  crypto::SystemRandom random_;
  StandardErrorSink sink_;
  Log log_{"node", clock_, sink_, standard_error_format()};
  asio::io_context io_{1};
  std::optional<http::TlsClientContext> tls_;
  http::Url hub_;
  std::optional<WebSocketDialer> dialer_;
  std::optional<node::HttpsRenewal> renewal_;
  std::optional<stream::FileDisk> disk_;
  std::optional<sandbox::LauncherClient> launcher_;
  ExecutedFiles executed_files_;
  std::optional<FileThread> file_thread_;
  std::optional<node::Node> node_;
  Result<void> outcome_;
  bool has_disk_failed_ = false;
};

// A directory that is not there, or not a node's yet.
Error before_enrolment(Error error, const std::string& data) {
  if (error.code() != ErrorCode::not_found) return error;
  return with_remedy(
      std::move(error),
      fmt::format("Enrol this machine first: outhaul-node enroll --hub URL --ca-fingerprint "
                  "sha256:... --data {} --token - (`outhaul node token create` prints it all).",
                  data));
}

Result<std::unique_ptr<NodeProcess>> NodeProcess::make(const NodeOptions& options) {
  auto opened = crypto::DataDirectory::open(options.data, crypto::DataOwner::node);
  if (!opened) return fail(before_enrolment(std::move(opened).error(), options.data));
  auto& data = *opened;
  auto loaded = node::Identity::load(data);
  if (!loaded) return fail(before_enrolment(std::move(loaded).error(), options.data));
  auto& identity = *loaded;
  std::unique_ptr<NodeProcess> process(new NodeProcess(options, std::move(data), std::move(identity)));
  OUTHAUL_CHECK(process->prepare());
  return process;
}

Result<void> NodeProcess::prepare() {
  OUTHAUL_TRY(files, load_owner_files(data_.path(), options_.config_file, options_.isolation));
  config_ = std::move(files.config);
  OUTHAUL_CHECK(make_directory(config_.settings.workspace));
  OUTHAUL_CHECK(require_stream_directory(data_.file("streams")));
  config_.settings.journal_must_exist = true;
  if (const auto& tasks = options_.stint.tasks) {
    config_.settings.most_tasks = static_cast<std::uint32_t>(*tasks);
    config_.settings.slots = std::min(config_.settings.slots, *config_.settings.most_tasks);
  }
  OUTHAUL_CHECK(make_dialer());
  make_node();
  return {};
}

Result<void> NodeProcess::make_dialer() {
  const auto& enrolment = identity_.enrolment();
  OUTHAUL_TRY(tls, http::TlsClientContext::trusting(enrolment.ca_pem));
  const http::TlsIdentity shown{identity_.chain_pem(), identity_.tls_key_pem()};
  OUTHAUL_CHECK(tls.set_identity(shown));
  tls_.emplace(std::move(tls));
  std::string address = enrolment.hub;
  if (!config_.hub.empty()) address = config_.hub;
  if (!options_.hub.empty()) address = options_.hub;
  OUTHAUL_TRY(url, http::parse_url(address));
  hub_ = std::move(url);
  dialer_.emplace(clock_, random_, *tls_, hub_, "node." + enrolment.deployment);
  renewal_.emplace(node::HttpsRenewal::Ports{clock_, data_, identity_, *tls_}, hub_);
  return {};
}

void NodeProcess::make_node() {
  disk_.emplace(io_.get_executor(), data_.file("streams"));
  launcher_.emplace(
      io_.get_executor(), clock_,
      sandbox::LauncherSettings{.directory = data_.path(),
                                .program = launcher_program(),
                                .on_answering = [this](bool answers) { note_launcher(answers); }});
  file_thread_.emplace(io_.get_executor());
  const node::NodePorts ports{io_.get_executor(),
                              clock_,
                              random_,
                              *disk_,
                              *dialer_,
                              *launcher_,
                              log_,
                              &*renewal_,
                              {&lock_, &files_, &*file_thread_}};
  node::NodeSelf self{identity_.enrolment().node, identity_.enrolment().deployment, &identity_,
                      identity_.hub_keys(), identity_.enrolment().name};
  auto facts = read_node_facts();
  facts.executed_file = [this](const sandbox::ProcessSpec& spec) { return executed_files_.find(spec); };
  node_.emplace(ports, std::move(self), config_.settings, std::move(facts));
}

void NodeProcess::note_launcher(bool answers) const {
  const auto process = std::to_string(launcher_->launcher_process_id());
  if (answers) return log_.info("the launcher answers again", {{"pid", process}});
  log_.warn(
      "the launcher does not answer: no new tasks; what runs goes on, and cannot be ended or seen until it "
      "does",
      {{"pid", process}, {"remedy", "if somebody stopped it: kill -CONT " + process}});
}

Result<void> NodeProcess::run() {
  TaskGroup group(io_.get_executor());
  group.spawn([this] { return live(); });
  io_.run();
  node_.reset();
  return std::move(outcome_);
}

Result<Bytes> NodeProcess::serve_owner(Bytes request) {
  auto answer = run_on_loop(io_, serve_owner_once(std::move(request)));
  node_.reset();
  return answer;
}

Task<Result<Bytes>> NodeProcess::serve_owner_once(Bytes request) {
  const auto opened = co_await node_->open();
  Bytes answer;
  if (opened) answer = co_await node::serve_owner_request(*node_, std::move(request));
  co_await node_->join();
  if (!opened) co_return std::unexpected(opened.error());
  co_return answer;
}

Task<void> NodeProcess::live() {
  if (identity_.damage()) {
    log_.failure("the renewed certificate is damaged; going on with the enrolled one", *identity_.damage());
  }
  say_what_is_allowed();
  OwnerSocket owner(io_.get_executor(), clock_, data_.path(),
                    [this](Bytes request) { return node::serve_owner_request(*node_, std::move(request)); });
  TaskGroup watching(io_.get_executor());
  // Before anything can start: an owner who locks now is heard.
  watching.spawn([this] { return feed_watchdog(clock_); });
  watching.spawn([this, &owner] { return hear_owner(owner); });
  outcome_ = co_await node_->start();
  if (outcome_) {
    watching.spawn([this] { return watch_end(); });
    notify_service_manager("READY=1");
    outcome_ = co_await node_->run();
    // Nothing but its hub or its disk ends a node that ran.
    has_disk_failed_ = !outcome_ && outcome_.error().code() != ErrorCode::node_removed;
    if (outcome_ && options_.is_ephemeral) outcome_ = co_await depart();
  }
  watching.cancel();
  co_await watching.join();
  co_await owner.close();
  co_await node_->join();
  node_.reset();
  co_await launcher_->close();
}

void NodeProcess::say_what_is_allowed() const {
  if (config_.settings.isolation.empty()) {
    log_.warn("no task can run here: node.yaml allows no isolation level",
              {{"remedy", "write `isolation: [trusted]` to run tasks without a sandbox"}});
  }
  if (const auto& policy = config_.settings.policy) {
    log_.info("a policy holds", {{"mode", policy::name_of(policy->mode)}});
  } else {
    log_.info("no policy.yaml: everything runs that `isolation` allows, and nobody is asked");
  }
}

Task<void> NodeProcess::hear_owner(OwnerSocket& owner) {
  const auto served = co_await owner.serve();
  if (!served) log_.failure("the owner is not heard", served.error());
}

Task<void> NodeProcess::await_end() {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  StopSignals signals(io_.get_executor());
  if (options_.is_ephemeral) {
    co_await (signals.wait() || node_->wait_spent(options_.stint));
    node_->note_leaving();
  } else {
    co_await signals.wait();
  }
}

Task<void> NodeProcess::watch_end() {
  co_await await_end();
  notify_service_manager("STOPPING=1");
  // A second signal ends us at once, as it would have without a drain.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  const bool ends_tasks = options_.end_tasks || options_.is_ephemeral;
  co_await node_->drain(config_.settings.drain_limit,
                        ends_tasks ? node::DrainEnd::end : node::DrainEnd::leave);
}

// What the hub does not have is not thrown away: it takes such a node out of its registry by itself.
Task<Result<void>> NodeProcess::depart() {
  if (const auto kept = node_->undelivered(); kept > 0) {
    co_return fail(
        Error(ErrorCode::unavailable, "the node does not leave: the hub lacks results that are here")
            .with("tasks", std::to_string(kept)));
  }
  auto left = co_await node::leave_hub(clock_, *tls_, identity_, hub_);
  if (!left) co_return fail(std::move(left).error().during("leave the hub"));
  log_.info("left the hub");
  co_return node::retire_identity(data_);
}

// On standard error, so that a script that reads the outcome is not in the way of whoever compares.
void say_that_it_waits(const std::string& fingerprint) {
  fmt::print(
      stderr,
      "waiting for approval; the operator must see the same fingerprint (`outhaul node pending`):\n  {}\n",
      fingerprint);
}

}  // namespace

std::filesystem::path launcher_program() {
  std::error_code fault;
  return std::filesystem::read_symlink("/proc/self/exe", fault).parent_path() / "outhaul-launcher";
}

Result<node::Enrolment> enrol(const NodeOptions& options) {
  OUTHAUL_TRY(url, http::parse_url(options.hub));
  OUTHAUL_TRY(fingerprint, crypto::Fingerprint::parse(options.ca_fingerprint));
  OUTHAUL_TRY(token, crypto::read_secret({"enrolment token", options.token_file, options.token}));
  OUTHAUL_TRY(data, crypto::DataDirectory::create_or_open(options.data, crypto::DataOwner::node));
  OUTHAUL_CHECK(make_stream_directory(data.file("streams")));
  node::EnrolmentOrder order{url,
                             fingerprint,
                             std::move(token),
                             options.name.empty() ? default_node_name() : options.name,
                             say_that_it_waits,
                             options.is_ephemeral};
  SystemClock clock;
  crypto::SystemRandom random;
  asio::io_context io(1);
  std::optional<Result<node::Enrolment>> enrolment;
  TaskGroup group(io.get_executor());
  group.spawn(
      [&]() -> Task<void> { enrolment = co_await node::enrol(data, std::move(order), clock, random); });
  io.run();
  return std::move(*enrolment);
}

int enrol_node(const NodeOptions& options) {
  const auto enrolment = enrol(options);
  if (!enrolment) return report_fault("outhaul-node", enrolment.error());
  fmt::print("enrolled as {} ({}) with {}\n", enrolment->name, enrolment->node.text(), enrolment->deployment);
  return 0;
}

int run_node(const NodeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_open_files();
  auto process = NodeProcess::make(options);
  if (!process) return report_fault("outhaul-node", process.error());
  const auto ended = (*process)->run();
  if (ended) return 0;
  const int status = report_fault("outhaul-node", ended.error());
  if (ended.error().code() == ErrorCode::node_removed) return node_removed_status;
  return (*process)->has_disk_failed() ? disk_failed_status : status;
}

Result<Bytes> ask_stopped_node(const NodeOptions& options, Bytes request) {
  OUTHAUL_TRY(process, NodeProcess::make(options));
  return process->serve_owner(std::move(request));
}

}  // namespace outhaul
