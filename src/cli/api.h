// Api: the hub as a context names it. Adds the token, reads problems back into Errors, follows pages.
// Runs on one strand; one request at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/async_clock.h"
#include "base/error.h"
#include "base/task.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/json_text.h"
#include "http/client.h"

namespace outhaul::cli {

class Api {
 public:
  // For the context that `cli.options` names. Fails with not_found when there is none.
  static Result<Api> open(Cli& cli);
  static Result<Api> open(Cli& cli, const Context& context);

  // One request and its JSON; null for an empty answer. Fails with what the hub's problem says, or
  // unavailable and deadline_exceeded of the connection.
  Task<Result<json::value>> call(http::Method method, std::string target, Bytes body = {});
  // The same, tried again while the hub is away, for at most retry_limit. Only for what may be sent twice.
  // A note on standard error says that it waits.
  Task<Result<json::value>> call_patiently(http::Method method, std::string target, Bytes body = {});
  // Every item of a listing, page by page.
  Task<Result<json::array>> list(std::string target);

  // A request whose answer is read piece by piece; an answer of 400 or more is its Error.
  Task<Result<http::ClientResponse>> stream(http::Method method, std::string target, Bytes body = {},
                                            http::Headers headers = {});
  // Drops the connection: the next request makes a new one.
  void reset();

  // How long a lost hub is waited for.
  static constexpr std::chrono::minutes retry_limit{5};

 private:
  Api(Cli& cli, http::TlsClientContext tls, http::Client::Settings settings, Secret token);
  Error unreached(Error error) const;
  http::ClientRequest request(http::Method method, std::string target, Bytes body,
                              http::Headers headers) const;

  Cli* cli_;
  std::unique_ptr<http::TlsClientContext> tls_;  // on the heap: the client holds its address
  std::unique_ptr<http::Client> client_;
  http::Client::Settings settings_;
  Secret token_;
};

// The hub cannot be reached or says to come back: worth another try.
bool is_passing(const Error& error);
// The pause before try number `attempt` (from 0): 100 ms doubling to 3 s.
Duration retry_pause(int attempt);

// Prints an Error on standard error as one line and gives exit_code::failed.
int report(const Error& error);
// The same for a fault in the command line itself; gives exit_code::usage.
int report_usage(const Error& error);
// Compact JSON and a line end on standard output.
void print_json(const json::value& value);

}  // namespace outhaul::cli
