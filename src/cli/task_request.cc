#include "cli/task_request.h"

#include <cstdlib>

#include <fmt/format.h>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/listing.h"
#include "cli/option_text.h"
#include "cli/terminal.h"
#include "http/utf8.h"

namespace outhaul::cli {
namespace {

std::unexpected<Error> not_text(const std::string& what) {
  return fail(ErrorCode::invalid, what + " is not UTF-8: what a task is made of must be text");
}

// JSON carries text; a task's words are text as well. Said here, where the word can still be named.
Result<void> check_text(const RunOptions& options) {
  for (std::size_t i = 0; i < options.argv.size(); ++i) {
    if (!http::is_utf8(options.argv[i])) return not_text(fmt::format("word {} of the command", i + 1));
  }
  const std::pair<const char*, const std::string&> single[] = {
      {"--shell", options.shell}, {"the text", options.echo}, {"--cwd", options.directory},
      {"--node", options.node},   {"--pool", options.pool},   {"--isolation", options.isolation},
  };
  for (const auto& [name, value] : single) {
    if (!http::is_utf8(value)) return not_text(name);
  }
  for (const auto& label : options.labels) {
    if (!http::is_utf8(label)) return not_text("--label");
  }
  return {};
}

Result<void> put_action(json::object& body, const RunOptions& options) {
  const int given =
      (options.argv.empty() ? 0 : 1) + (options.shell.empty() ? 0 : 1) + (options.echo.empty() ? 0 : 1);
  if (given != 1) {
    return fail(ErrorCode::invalid, "say what to run: either `-- PROGRAM ARGUMENT...` or `--shell LINE`");
  }
  if (!options.shell.empty()) {
    body["shell"] = options.shell;
  } else if (!options.echo.empty()) {
    body["echo"] = options.echo;
  } else {
    body["argv"] = json::array(options.argv.begin(), options.argv.end());
  }
  return {};
}

Result<void> put_selector(json::object& body, const RunOptions& options) {
  json::object selector;
  if (!options.node.empty()) selector["node"] = options.node;
  if (!options.pool.empty()) selector["pool"] = options.pool;
  if (!options.labels.empty()) {
    OUTHAUL_TRY(labels, parse_pairs(options.labels, "--label"));
    selector["labels"] = std::move(labels);
  }
  if (!selector.empty()) body["selector"] = std::move(selector);
  return {};
}

Result<void> put_environment(json::object& body, const RunOptions& options) {
  if (options.environment.empty()) return {};
  std::vector<std::string> pairs;
  for (const auto& entry : options.environment) {
    if (entry.find('=') != std::string::npos) {
      pairs.push_back(entry);
    } else if (const char* own = std::getenv(entry.c_str())) {
      pairs.push_back(fmt::format("{}={}", entry, own));
    } else {
      return fail(ErrorCode::invalid,
                  fmt::format("--env {0}: no variable {0} is set here to be passed on; give its value: "
                              "--env {0}=VALUE",
                              shown(entry)));
    }
  }
  for (const auto& pair : pairs) {
    if (!http::is_utf8(pair)) {
      const auto name = pair.substr(0, pair.find('='));
      return not_text(http::is_utf8(name) ? fmt::format("--env: the value of {}", name) : "--env");
    }
  }
  OUTHAUL_TRY(environment, parse_pairs(pairs, "--env"));
  body["env"] = std::move(environment);
  return {};
}

Result<void> put_duration(json::object& body, const char* key, const std::string& text,
                          std::string_view option) {
  if (text.empty()) return {};
  if (auto fit = check_duration(text); !fit) return fail(std::move(fit).error().during(option));
  body[key] = text;
  return {};
}

}  // namespace

Result<json::object> task_fields(const RunOptions& options) {
  json::object body;
  OUTHAUL_CHECK(check_text(options));
  if (options.detach && options.has_stdin) {
    return fail(ErrorCode::invalid, "--detach leaves before --stdin is read: give one of them");
  }
  OUTHAUL_CHECK(put_action(body, options));
  OUTHAUL_CHECK(put_selector(body, options));
  OUTHAUL_CHECK(put_environment(body, options));
  OUTHAUL_CHECK(put_duration(body, "timeout", options.timeout, "--timeout"));
  OUTHAUL_CHECK(put_duration(body, "queue_timeout", options.queue_timeout, "--queue-timeout"));
  if (!options.directory.empty()) body["cwd"] = options.directory;
  if (!options.isolation.empty()) body["isolation"] = options.isolation;
  if (options.has_stdin) {
    body["stdin"] = true;
    body["interactive"] = true;
  }
  return body;
}

Result<Bytes> task_request(const RunOptions& options) {
  OUTHAUL_TRY(body, task_fields(options));
  return json::serialize(body);
}

}  // namespace outhaul::cli
