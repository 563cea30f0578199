#include "cli/api.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/remedy.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

constexpr std::size_t max_answer_bytes = std::size_t{64} << 20U;

Result<json::value> parse_answer(ByteView body) {
  if (body.empty()) return json::value();
  boost::system::error_code fault;
  auto value = json::parse(json::string_view(body.data(), body.size()), fault);
  if (fault) return fail(ErrorCode::protocol_violation, "the hub's answer is no JSON");
  return value;
}

// The general remedy, where it says more than the sentence itself does.
Error with_remedy_of(ErrorCode code, std::string what) {
  Error error(code, std::move(what));
  return code == ErrorCode::invalid ? error
                                    : with_remedy(std::move(error), std::string(info_of(code).remedy));
}

// What a problem document says; the hub's own words, made printable.
Error problem_of(int status, ByteView body) {
  const auto parsed = parse_answer(body);
  if (parsed && parsed->is_object()) {
    const auto code = find_error_code(text_at(*parsed, "code"));
    auto error = with_remedy_of(code.value_or(ErrorCode::internal), shown(text_at(*parsed, "detail")));
    if (const auto* details = parsed->as_object().if_contains("details"); details && details->is_object()) {
      for (const auto& [name, value] : details->as_object()) {
        error = std::move(error).with(
            std::string(name), value.is_string() ? std::string(value.as_string()) : json::serialize(value));
      }
    }
    return error;
  }
  return Error(status >= 500 ? ErrorCode::unavailable : ErrorCode::internal,
               fmt::format("the hub answered {} {}", status, http::reason_of(status)));
}

}  // namespace

Result<Api> Api::open(Cli& cli) {
  OUTHAUL_TRY(file, ContextFile::load(ContextFile::default_path()));
  const auto* context = file.find(cli.options.context);
  if (context == nullptr) {
    return fail(ErrorCode::not_found, cli.options.context.empty()
                                          ? "no hub is known yet: run `outhaul up`, or `outhaul login URL`"
                                          : "no context of that name: see `outhaul context list`");
  }
  return open(cli, *context);
}

Result<Api> Api::open(Cli& cli, const Context& context) {
  OUTHAUL_TRY(url, http::parse_url(context.url));
  OUTHAUL_TRY(fingerprint, crypto::Fingerprint::parse(context.ca_fingerprint));
  OUTHAUL_TRY(tls, http::TlsClientContext::pinning(fingerprint));
  http::Client::Settings settings;
  settings.url = url;
  return Api(cli, std::move(tls), std::move(settings),
             Secret(std::string(context.token.reveal_for("requests"))));
}

Api::Api(Cli& cli, http::TlsClientContext tls, http::Client::Settings settings, Secret token)
    : cli_(&cli),
      tls_(std::make_unique<http::TlsClientContext>(std::move(tls))),
      settings_(std::move(settings)),
      token_(std::move(token)) {
  reset();
}

void Api::reset() { client_ = std::make_unique<http::Client>(cli_->clock, tls_.get(), settings_); }

http::ClientRequest Api::request(http::Method method, std::string target, Bytes body,
                                 http::Headers headers) const {
  http::ClientRequest made;
  made.method = method;
  made.target = std::move(target);
  made.headers = std::move(headers);
  made.headers.set("Authorization", fmt::format("Bearer {}", token_.reveal_for("authorization")));
  if (!body.empty() && !made.headers.find("Content-Type"))
    made.headers.set("Content-Type", "application/json");
  made.body = std::move(body);
  return made;
}

Task<Result<http::ClientResponse>> Api::stream(http::Method method, std::string target, Bytes body,
                                               http::Headers headers) {
  auto made = request(method, std::move(target), std::move(body), std::move(headers));
  auto answered = co_await client_->request(std::move(made));
  if (!answered) co_return fail(unreached(std::move(answered).error()));
  auto& response = *answered;
  if (response.status < 400) co_return response;
  OUTHAUL_CO_TRY(text, co_await response.body->read_all(max_answer_bytes));
  co_return fail(problem_of(response.status, text));
}

Error Api::unreached(Error error) const {
  if (error.code() != ErrorCode::unavailable) return error;
  return with_remedy(std::move(error),
                     fmt::format("Is the hub running at {}? `outhaul context list` shows which hub is asked.",
                                 settings_.url.text()));
}

Task<Result<json::value>> Api::call(http::Method method, std::string target, Bytes body) {
  OUTHAUL_CO_TRY(response, co_await stream(method, std::move(target), std::move(body)));
  OUTHAUL_CO_TRY(text, co_await response.body->read_all(max_answer_bytes));
  co_return parse_answer(text);
}

Task<Result<json::value>> Api::call_patiently(http::Method method, std::string target, Bytes body) {
  const auto deadline = cli_->clock.now() + retry_limit;
  for (int attempt = 0;; ++attempt) {
    auto answer = co_await call(method, target, body);
    if (answer || !is_passing(answer.error()) || cli_->clock.now() >= deadline) co_return answer;
    if (attempt == 1) std::fputs("outhaul: the hub is away; waiting for it\n", stderr);
    reset();
    co_await cli_->clock.sleep_for(retry_pause(attempt));
  }
}

Task<Result<json::array>> Api::list(std::string target) {
  json::array all;
  std::string cursor;
  do {
    auto page_target = target;
    page_target += target.find('?') == std::string::npos ? '?' : '&';
    page_target += "limit=200";
    if (!cursor.empty()) page_target += "&cursor=" + http::percent_encode(cursor);
    OUTHAUL_CO_TRY(page, co_await call(http::Method::get, std::move(page_target)));
    const auto* items = page.is_object() ? page.as_object().if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array()) {
      co_return fail(ErrorCode::protocol_violation, "the hub's answer is no listing");
    }
    for (auto& item : items->as_array()) all.push_back(item);
    cursor = text_at(page, "next_cursor");
  } while (!cursor.empty());
  co_return all;
}

bool is_passing(const Error& error) {
  return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::deadline_exceeded ||
         error.code() == ErrorCode::draining;
}

Duration retry_pause(int attempt) {
  constexpr auto longest = std::chrono::milliseconds(3000);
  return std::min(std::chrono::milliseconds(100) * (1 << std::min(attempt, 5)), longest);
}

int report(const Error& error) {
  std::string line = fmt::format("outhaul: {} ({})", error.what(), name_of(error.code()));
  // What was found here says in its own words what to do.
  for (const auto& detail : error.details()) {
    if (detail.name == remedy_detail) line += ". " + detail.value;
  }
  std::fputs((line + "\n").c_str(), stderr);
  return exit_code::failed;
}

int report_usage(const Error& error) {
  report(error);
  return exit_code::usage;
}

void print_json(const json::value& value) { std::fputs((json::serialize(value) + "\n").c_str(), stdout); }

}  // namespace outhaul::cli
