// The routes of the HTTPS interface. Every one is either protected, and then passes Admission with exactly
// one Action, or stands on the list of public ones; there is no third way to make a route.
//   source  docs/openapi.json
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/router.h"
#include "hub/accounts/action.h"
#include "hub/accounts/admission.h"
#include "hub/audit/hub_audit.h"
#include "hub/hub.h"

namespace outhaul::hub {

inline constexpr std::string_view api_root = "/api/v1";

// Gives the answer, or the error that becomes problem+json.
using PlainHandler = std::function<Task<Result<http::Response>>(http::RequestContext&, Principal)>;
// Answers by itself. An error before that becomes problem+json; one after it cuts the connection.
using StreamingHandler = std::function<Task<Result<void>>(http::RequestContext&, Principal)>;
using PublicHandler = std::function<Task<Result<http::Response>>(http::RequestContext&)>;

class RouteTable {
 public:
  // What a protected route is, for whoever judges a request to it.
  struct ProtectedRoute {
    std::string name;
    Action action;
  };
  struct Entry {
    http::Route route;
    std::optional<Action> action;  // empty: public
  };

  // Both outlive the routes. `path` is below api_root.
  RouteTable(Admission& admission, HubAudit& audit) : admission_(admission), audit_(audit) {}

  void add(http::Method method, std::string_view path, std::string name, Action action, PlainHandler handler);
  void add_streaming(http::Method method, std::string_view path, std::string name, Action action,
                     StreamingHandler handler);
  // `pattern` is the whole path.
  void add_public(http::Method method, std::string pattern, std::string name, PublicHandler handler);
  void add_public_streaming(http::Method method, std::string pattern, std::string name,
                            http::Handler handler);

  const std::vector<Entry>& entries() const { return entries_; }
  http::Router router() const;

 private:
  // The sender, or the error that it gets; a refusal is audited.
  static Task<Result<Principal>> admit(Admission& admission, HubAudit& audit,
                                       const http::RequestContext& context, ProtectedRoute route);

  Admission& admission_;
  HubAudit& audit_;
  std::vector<Entry> entries_;
};

// All routes of the interface. The hub outlives them.
RouteTable make_api(Hub& hub);

// The parts of make_api, a file each.
void add_service_routes(RouteTable& table, Hub& hub);
void add_account_routes(RouteTable& table, Hub& hub);
void add_user_key_routes(RouteTable& table, Hub& hub);
void add_node_routes(RouteTable& table, Hub& hub);
void add_renewal_routes(RouteTable& table, Hub& hub);
void add_departure_routes(RouteTable& table, Hub& hub);
void add_approval_routes(RouteTable& table, Hub& hub);
void add_task_routes(RouteTable& table, Hub& hub);
void add_stream_routes(RouteTable& table, Hub& hub);
void add_audit_routes(RouteTable& table, Hub& hub);

}  // namespace outhaul::hub
