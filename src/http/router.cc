#include "http/router.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/assert.h"
#include "http/problem.h"
#include "http/uri.h"

namespace outhaul::http {
namespace {

using Segments = std::vector<std::string_view>;

bool is_placeholder(std::string_view segment) { return segment.starts_with('{'); }

// A name in braces, or text that needs no percent-encoding, so that it can be compared as sent.
bool is_legal_segment(std::string_view segment) {
  if (!is_placeholder(segment)) return segment == percent_encode(segment);
  const auto name = segment.substr(1, segment.size() - 2);
  return segment.size() > 2 && segment.ends_with('}') && name == percent_encode(name);
}

// The pattern with all names left out: two routes of one method may not share it.
std::string shape_of(const Route& route) {
  std::string shape(name_of(route.method));
  for (const auto segment : split_path(route.pattern)) {
    shape.append("/").append(is_placeholder(segment) ? "{}" : segment);
  }
  return shape;
}

bool matches(const Segments& pattern, const Segments& path) {
  return std::ranges::equal(pattern, path, [](std::string_view expected, std::string_view sent) {
    return is_placeholder(expected) ? !sent.empty() : expected == sent;
  });
}

// True when `a` says more than `b` at the first segment in which one is literal and the other is not.
bool is_more_literal(const Segments& a, const Segments& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_placeholder(a[i]) != is_placeholder(b[i])) return is_placeholder(b[i]);
  }
  return false;
}

bool answers(const Route& route, Method method) {
  return route.method == method || (route.method == Method::get && method == Method::head);
}

struct Match {
  const Route* route = nullptr;
  std::set<std::string_view> allowed;  // methods of the path, when its route is null
};

Match find_match(const std::vector<Route>& routes, std::span<const Segments> patterns, Method method,
                 const Segments& path) {
  Match match;
  const Segments* best = nullptr;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto& route = routes[i];
    const auto& pattern = patterns[i];
    if (!matches(pattern, path)) continue;
    match.allowed.insert(name_of(route.method));
    if (route.method == Method::get) match.allowed.insert(name_of(Method::head));
    if (!answers(route, method)) continue;
    if (match.route != nullptr && !is_more_literal(pattern, *best)) continue;
    match.route = &route;
    best = &pattern;
  }
  return match;
}

using PathValues = std::map<std::string, std::string, std::less<>>;

Result<PathValues> read_values(std::string_view pattern, const Segments& path) {
  PathValues values;
  const auto segments = split_path(pattern);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!is_placeholder(segments[i])) continue;
    OUTHAUL_TRY(value, parse_percent_encoded(path[i]));
    values.emplace(std::string(segments[i].substr(1, segments[i].size() - 2)), std::move(value));
  }
  return values;
}

Response not_allowed(const std::set<std::string_view>& methods) {
  std::string allow;
  for (const auto method : methods) allow.append(allow.empty() ? "" : ", ").append(method);
  Response response = problem_response(
      Error(ErrorCode::method_not_allowed, "this address has other methods").with("allow", allow));
  response.headers.add("Allow", allow);
  return response;
}

}  // namespace

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  std::set<std::string> shapes;
  std::set<std::string_view> names;
  for (const auto& route : routes_) {
    OUTHAUL_ASSERT(route.pattern.starts_with('/') && route.handler);
    OUTHAUL_ASSERT(std::ranges::all_of(split_path(route.pattern), is_legal_segment));
    OUTHAUL_ASSERT(shapes.insert(shape_of(route)).second && names.insert(route.name).second);
    patterns_.push_back(split_path(route.pattern));
  }
}

Task<void> Router::dispatch(RequestContext& context) const {
  const auto& request = context.request();
  const auto path = split_path(request.path);
  const auto match = find_match(routes_, patterns_, request.method, path);
  if (match.route != nullptr) {
    auto values = read_values(match.route->pattern, path);
    if (!values) {
      co_await context.respond_error(std::move(values).error());
      co_return;
    }
    context.set_path_values(std::move(*values));
    co_await match.route->handler(context);
    co_return;
  }
  auto response = match.allowed.empty() ? problem_response(Error(ErrorCode::not_found, "no such address"))
                                        : not_allowed(match.allowed);
  co_await context.respond(std::move(response));
}

}  // namespace outhaul::http
