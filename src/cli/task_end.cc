#include "cli/task_end.h"

#include <cstring>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/json_text.h"
#include "cli/terminal.h"

namespace outhaul::cli {
namespace {

std::optional<int> number_at(const json::value& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto* const value = object.as_object().if_contains(key);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return static_cast<int>(value->as_int64());
}

std::optional<wire::ProgramEnd> program_end_of(const json::value& object) {
  if (const auto code = number_at(object, "exit_code")) return wire::Exited{*code};
  if (const auto signal = number_at(object, "signal")) return wire::Signalled{*signal};
  return std::nullopt;
}

int exit_code_of(const wire::Failed& failed) {
  switch (failed.code) {
    case ErrorCode::task_timed_out: return exit_code::time_limit;
    case ErrorCode::program_not_executable: return exit_code::not_executable;
    case ErrorCode::program_not_found: return exit_code::not_found;
    default: return exit_code::outhaul;
  }
}

std::string sentence_of(const wire::Failed& failed) {
  const auto code = name_of(failed.code);
  return fmt::format("{} ({}). {}", failed.message.empty() ? code : shown(failed.message), code,
                     info_of(failed.code).remedy);
}

}  // namespace

Result<wire::TaskEnd> task_end_of(const json::value& result) {
  const auto program = program_end_of(result);
  if (const auto word = text_at(result, "error_code"); !word.empty()) {
    // A code of a newer hub still is a failure, and its sentence still says which.
    const auto code = find_error_code(word).value_or(ErrorCode::internal);
    return wire::TaskEnd(wire::Failed{code, text_at(result, "error_message"), program});
  }
  if (!program)
    return fail(ErrorCode::protocol_violation, "the hub's answer does not say how the task ended");
  return std::visit([](const auto& way) { return wire::TaskEnd(way); }, *program);
}

int exit_code_of(const wire::TaskEnd& end) {
  if (const auto* const exited = std::get_if<wire::Exited>(&end)) return exited->code;
  if (const auto* const signalled = std::get_if<wire::Signalled>(&end))
    return exit_code::signalled + signalled->signal;
  return exit_code_of(std::get<wire::Failed>(end));
}

int exit_code_after_interrupt(const wire::TaskEnd& end, int number) {
  const auto* const failed = std::get_if<wire::Failed>(&end);
  if (failed == nullptr || failed->code != ErrorCode::task_cancelled) return exit_code_of(end);
  const auto* const exited = failed->program ? std::get_if<wire::Exited>(&*failed->program) : nullptr;
  return exited != nullptr ? exited->code : exit_code::signalled + number;
}

std::string end_sentence(const wire::TaskEnd& end) {
  if (const auto* const exited = std::get_if<wire::Exited>(&end))
    return fmt::format("the command itself exited with {}", exited->code);
  if (const auto* const signalled = std::get_if<wire::Signalled>(&end)) {
    return fmt::format("the command was ended by signal {} ({})", signalled->signal,
                       signal_name(signalled->signal));
  }
  return sentence_of(std::get<wire::Failed>(end));
}

// From 124 on a code could be taken for one of ours.
bool goes_without_saying(const wire::TaskEnd& end) {
  const auto* const exited = std::get_if<wire::Exited>(&end);
  return exited != nullptr && exited->code < exit_code::time_limit;
}

std::string end_cell(const json::value& task) {
  if (const auto reason = text_at(task, "error_code"); !reason.empty()) return shown(reason);
  const auto program = program_end_of(task);
  if (!program) return "-";
  if (const auto* const exited = std::get_if<wire::Exited>(&*program))
    return fmt::format("exit {}", exited->code);
  return signal_name(std::get<wire::Signalled>(*program).signal);
}

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name != nullptr ? std::string(name) : fmt::format("signal {}", number);
}

}  // namespace outhaul::cli
