#include "store/row_rules.h"

#include <algorithm>

namespace outhaul::store {
namespace {

bool has_line_end(std::string_view text) { return text.find('\n') != text.npos; }

}  // namespace

Result<void> check_labels(const Labels& labels) {
  for (const auto& [name, value] : labels) {
    if (name.empty()) return fail(ErrorCode::invalid, "labels: a name is empty");
    if (name.find('=') != name.npos || has_line_end(name)) {
      return fail(ErrorCode::invalid, "labels: a name holds '=' or a line end");
    }
    if (has_line_end(value)) return fail(ErrorCode::invalid, "labels: a value holds a line end");
  }
  return {};
}

Result<void> check_planes(const Planes& planes) {
  const bool is_bad =
      std::ranges::any_of(planes, [](const auto& plane) { return plane.empty() || has_line_end(plane); });
  if (is_bad) return fail(ErrorCode::invalid, "planes: a word is empty or holds a line end");
  return {};
}

Result<void> check_stream(const StreamRow& stream, ByteView records) {
  if (stream.place == StreamPlace::segments && !records.empty()) {
    return fail(ErrorCode::invalid, "stream: records given although segments hold them");
  }
  if (records.size() > max_archived_bytes) {
    return fail(Error(ErrorCode::too_large, "stream: too large to archive")
                    .with("limit_bytes", std::to_string(max_archived_bytes)));
  }
  return {};
}

Result<void> check_setting(const std::string& name, const Bytes& value) {
  if (name.empty()) return fail(ErrorCode::invalid, "setting: no name");
  if (value.size() > max_setting_bytes) {
    return fail(Error(ErrorCode::too_large, "setting: value too large")
                    .with("limit_bytes", std::to_string(max_setting_bytes)));
  }
  return {};
}

Result<void> check_advance(TaskState from, TaskState to) {
  if (to != TaskState::accepted && to != TaskState::running) {
    return fail(ErrorCode::invalid, "task: only accepted and running are advanced to");
  }
  if (is_final(from)) return task_is_final();
  return {};
}

Result<void> check_finish(TaskState from, TaskState to) {
  if (!is_final(to)) return fail(ErrorCode::invalid, "task: it cannot end in a state that is not final");
  if (is_final(from)) return task_is_final();
  return {};
}

std::unexpected<Error> no_such_row(std::string_view noun) {
  return fail(ErrorCode::not_found, std::string(noun) + ": no such id");
}

std::unexpected<Error> row_exists(std::string_view noun) {
  return fail(ErrorCode::conflict, std::string(noun) + ": exists already");
}

std::unexpected<Error> task_is_final() { return fail(ErrorCode::conflict, "task: it has ended already"); }

std::unexpected<Error> enrolment_token_refused() {
  return fail(ErrorCode::enrolment_token_invalid, "enrolment token: unknown, expired or used by another key");
}

std::unexpected<Error> nobody_asked() { return fail(ErrorCode::not_found, "enrolment: nobody has asked"); }

std::unexpected<Error> decided_otherwise() {
  return fail(ErrorCode::conflict, "enrolment: another fingerprint asked, or it was decided otherwise");
}

}  // namespace outhaul::store
