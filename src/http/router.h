// Router: which handler answers a request. Routes are a table that can be walked, so that a test can hold
// it against openapi.json. Paths match as sent, segment by segment: nothing is normalised, so no two
// readers of one path can see two resources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/request_context.h"

namespace outhaul::http {

struct Route {
  Method method = Method::get;
  std::string pattern;  // "/api/v1/tasks/{id}": a segment is literal or one {name}, never both
  std::string name;     // the operation: "task_show"; unique
  Handler handler;
};

class Router {
 public:
  // A pattern that is malformed or given twice for one method is a broken promise.
  explicit Router(std::vector<Route> routes);
  const std::vector<Route>& routes() const { return routes_; }

  // Runs the handler of the matching route, or answers 404 `not_found`, 405 `method_not_allowed` with
  // Allow, or 400 `invalid` for a segment that does not decode. A GET route also answers HEAD.
  // Literal segments win over {name}. A trailing '/' is a segment of its own: it does not match.
  Task<void> dispatch(RequestContext& context) const;

 private:
  std::vector<Route> routes_;
  std::vector<std::vector<std::string_view>> patterns_;  // of the same routes, in segments
};

}  // namespace outhaul::http
