#include "main/hub_program.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include "base/assert.h"
#include "base/remedy.h"
#include "base/system_clock.h"
#include "base/task_group.h"
#include "base/within.h"
#include "crypto/data_files.h"
#include "crypto/system_random.h"
#include "http/json_writer.h"
#include "http/server.h"
#include "hub/accounts/account_service.h"
#include "hub/api/routes.h"
#include "hub/hub.h"
#include "hub/hub_config.h"
#include "hub/hub_data.h"
#include "hub/server_certificates.h"
#include "main/exit_status.h"
#include "main/hub_parts.h"
#include "main/log_sinks.h"
#include "main/run_on_loop.h"
#include "main/service_manager.h"
#include "main/stop_signals.h"
#include "main/stream_directory.h"
#include "store/sqlite_database.h"
#include "stream/file_disk.h"

namespace outhaul {
namespace {

constexpr std::string_view privileged_listen = "[::]:443";
constexpr std::string_view plain_listen = "[::]:8443";

Task<Result<Secret>> add_first_admin(store::Database& database, WallTime now, Random& random) {
  auto work = [now, &random](store::Transaction& tx) { return hub::make_first_admin(tx, now, random); };
  OUTHAUL_CO_TRY(made, co_await database.transact(std::move(work)));
  co_return std::move(made.token);
}

std::string_view default_listen() { return geteuid() == 0 ? privileged_listen : plain_listen; }

// Why `init` found something there already, and what is wanted instead.
Error already_there(Error error, const std::string& data) {
  if (error.code() == ErrorCode::data_locked) {
    return with_remedy(std::move(error), "A hub runs on it already; for another one name another directory.");
  }
  if (error.code() != ErrorCode::conflict) return error;
  return with_remedy(std::move(error),
                     fmt::format("A hub that is set up is started: outhaul-hub serve --data {}; for "
                                 "a new one name an empty directory.",
                                 data));
}

// The address that `serve` will have, unless it is told another.
void print_next_steps(const hub::HubIdentity& identity, const std::string& data,
                      const std::string& token_path) {
  const auto listen = http::parse_listen_address(default_listen());
  const http::Url url{identity.deployment, listen ? listen->port : std::uint16_t{443}};
  const auto fingerprint = identity.authority.fingerprint().text();
  fmt::print(
      "deployment      {}\nCA fingerprint  {}\n\nStart it; it listens on {} unless --listen ADDRESS:PORT "
      "says "
      "otherwise:\n  outhaul-hub serve --data {}\n\nThe first administrator's API token is in {}. Sign in "
      "with it, from here or with a private copy of the\nfile from a machine that reaches the hub by this "
      "name, "
      "and delete the file:\n  outhaul login {} --ca-fingerprint {} --token-file {}\n",
      identity.deployment, fingerprint, default_listen(), data, token_path, url.text(), fingerprint,
      token_path);
}

Result<void> init(const HubOptions& options) {
  SystemClock clock;
  crypto::SystemRandom random;
  OUTHAUL_TRY(data, crypto::DataDirectory::create_or_open(options.data, crypto::DataOwner::hub));
  OUTHAUL_TRY(identity, hub::make_identity(data, options.deployment, clock.wall_now(), random));
  OUTHAUL_CHECK(make_stream_directory(data.file(hub::streams_directory)));
  OUTHAUL_TRY(database,
              store::SqliteDatabase::create(hub_database(data, options.deployment), clock.wall_now()));
  asio::io_context io(1);
  OUTHAUL_TRY(token, run_on_loop(io, add_first_admin(*database, clock.wall_now(), random)));
  const auto token_path = data.file(hub::admin_token_file);
  const auto line = std::string(token.reveal_for("hand it over")) + "\n";
  OUTHAUL_CHECK(crypto::create_private_file(token_path, line));
  OUTHAUL_CHECK(hub::mark_complete(data, identity));
  print_next_steps(identity, options.data, token_path.string());
  return {};
}

// One hub process: everything that serve needs, in the order of its needs.
class HubProcess {
 public:
  static Result<std::unique_ptr<HubProcess>> make(const HubOptions& options);
  // Serves until a stop signal. An Error is why it could not start, or had to end.
  Result<void> run();
  bool has_disk_failed() const { return has_disk_failed_; }

 private:
  HubProcess(const HubOptions& options, crypto::DataDirectory data, hub::HubConfig config)
      : options_(options), data_(std::move(data)), config_(std::move(config)) {}

  Result<void> open(hub::HubIdentity identity);
  Result<void> make_tls(const hub::HubIdentity& identity);
  Result<http::TlsIdentity> read_operators_certificate() const;
  Task<Result<void>> serve();
  Result<http::ListenAddress> listen();
  Result<void> announce(const http::ListenAddress& address);
  Task<void> drain();

  HubOptions options_;
  bool has_disk_failed_ = false;
  crypto::DataDirectory data_;
  hub::HubConfig config_;
  SystemClock clock_;
  crypto::SystemRandom random_;
  StandardErrorSink sink_;
  Log log_{"hub", clock_, sink_, standard_error_format()};
  asio::io_context io_{1};
  std::unique_ptr<store::Database> database_;
  std::optional<stream::FileDisk> disk_;
  std::optional<hub::Hub> hub_;
  std::optional<hub::ServerCertificates> certificates_;
  std::optional<http::TlsServerContext> tls_;
  std::optional<http::Router> router_;
  std::optional<http::Server> server_;
};

Result<std::unique_ptr<HubProcess>> HubProcess::make(const HubOptions& options) {
  OUTHAUL_TRY(config, load_hub_config(options));
  auto opened = crypto::DataDirectory::open(options.data, crypto::DataOwner::hub);
  if (!opened) return fail(before_init(std::move(opened).error(), options.data));
  auto& data = *opened;
  OUTHAUL_TRY(identity, hub::load_identity(data));
  std::unique_ptr<HubProcess> process(new HubProcess(options, std::move(data), std::move(config)));
  OUTHAUL_CHECK(process->open(std::move(identity)));
  return process;
}

Result<void> HubProcess::open(hub::HubIdentity identity) {
  config_.settings.deployment = identity.deployment;
  config_.settings.journal_must_exist = true;
  OUTHAUL_CHECK(make_tls(identity));
  const auto streams = data_.file(hub::streams_directory);
  OUTHAUL_CHECK(require_stream_directory(streams));
  OUTHAUL_TRY(database,
              store::SqliteDatabase::open(hub_database(data_, identity.deployment), clock_.wall_now()));
  database_ = std::move(database);
  disk_.emplace(io_.get_executor(), streams);
  hub::HubKeys keys{std::move(identity.authority), identity.signing_key_id, std::move(identity.signing_key)};
  const hub::HubPorts ports{io_.get_executor(), clock_, random_, *database_, *disk_, log_};
  hub_.emplace(ports, config_.settings, std::move(keys));
  router_.emplace(hub::make_api(*hub_).router());
  server_.emplace(http::Server::Ports{io_.get_executor(), clock_, log_}, *router_, &*tls_);
  return {};
}

Result<void> HubProcess::make_tls(const hub::HubIdentity& identity) {
  hub::ServerCertificates::Settings settings;
  settings.deployment = identity.deployment;
  settings.more_names = config_.server_names;
  if (!config_.certificate_file.empty()) settings.people = [this] { return read_operators_certificate(); };
  certificates_.emplace(hub::ServerCertificates::Ports{clock_, random_, log_}, std::move(settings));
  OUTHAUL_TRY(tls, certificates_->make(identity.authority));
  tls_.emplace(std::move(tls));
  return {};
}

Result<http::TlsIdentity> HubProcess::read_operators_certificate() const {
  constexpr std::size_t max_pem_bytes = 256U << 10U;
  OUTHAUL_TRY(chain, crypto::read_trusted_file(config_.certificate_file, max_pem_bytes));
  OUTHAUL_TRY(key, crypto::read_private_file(config_.key_file, max_pem_bytes));
  return http::TlsIdentity{std::move(chain), std::move(key)};
}

Result<void> HubProcess::run() { return run_on_loop(io_, serve()); }

Task<Result<void>> HubProcess::serve() {
  StopSignals signals(io_.get_executor());
  auto started = co_await hub_->start();
  if (started) {
    const auto address = listen();
    started = address ? announce(*address) : Result<void>(fail(address.error()));
  }
  TaskGroup upkeep(io_.get_executor());
  upkeep.spawn([this] { return feed_watchdog(clock_); });
  upkeep.spawn([this] { return certificates_->keep_fresh(*tls_, hub_->keys().authority); });
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  if (started) {
    const auto fate = co_await (signals.wait() || hub_->wait_failed());
    if (const auto* failure = std::get_if<Error>(&fate)) {
      has_disk_failed_ = true;
      started = fail(*failure);
    }
  }
  if (started) {
    log_.info("draining");
    notify_service_manager("STOPPING=1");
    hub_->begin_drain();
    // A second signal ends the wait.
    static_cast<void>(co_await (drain() || signals.wait()));
  }
  co_await server_->close();
  upkeep.cancel();
  co_await upkeep.join();
  co_await hub_->join();
  if (!options_.ready_file.empty()) ::unlink(options_.ready_file.c_str());
  co_return started;
}

Task<void> HubProcess::drain() {
  return server_->drain(std::chrono::duration_cast<Duration>(config_.settings.drain_limit));
}

Result<http::ListenAddress> HubProcess::listen() {
  auto text = options_.listen.empty() ? config_.listen : options_.listen;
  if (text.empty()) text = default_listen();
  OUTHAUL_TRY(address, http::parse_listen_address(text));
  return server_->listen(address);
}

Result<void> HubProcess::announce(const http::ListenAddress& address) {
  const bool is_any = address.host == "0.0.0.0" || address.host == "::";
  const http::Url url{is_any ? "127.0.0.1" : address.host, address.port};
  const auto fingerprint = hub_->keys().authority.fingerprint().text();
  log_.info("serving", {{"address", address.text()},
                        {"deployment", config_.settings.deployment},
                        {"ca_fingerprint", fingerprint}});
  notify_service_manager("READY=1");
  if (options_.ready_file.empty()) return {};
  http::JsonWriter json;
  json.begin_object().field("url", url.text()).field("ca_fingerprint", fingerprint);
  json.field("pid", ::getpid()).end_object();
  return crypto::write_public_file(options_.ready_file, std::move(json).take_text() + "\n");
}

// Each node holds a descriptor.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

int init_hub(const HubOptions& options) {
  auto made = init(options);
  return made ? 0 : report_fault(already_there(std::move(made).error(), options.data));
}

int serve_hub(const HubOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  auto process = HubProcess::make(options);
  if (!process) return report_fault(process.error());
  const auto served = (*process)->run();
  if (served) return 0;
  const int status = report_fault(served.error());
  return (*process)->has_disk_failed() ? disk_failed_status : status;
}

}  // namespace outhaul
