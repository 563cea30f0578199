#include "http/request_context.h"

#include "base/assert.h"
#include "http/problem.h"

namespace outhaul::http {

const std::string& RequestContext::path_value(std::string_view name) const {
  const auto found = path_values_.find(name);
  OUTHAUL_ASSERT(found != path_values_.end());
  return found->second;
}

Task<void> RequestContext::respond_error(Error error) { return respond(problem_response(error)); }

}  // namespace outhaul::http
