#include "testing/memory_program.h"

#include <charconv>
#include <map>

#include "base/duration_text.h"

namespace outhaul::testing {
namespace {

using Kind = MemoryStep::Kind;

Result<std::uint64_t> read_amount(std::string_view text) {
  std::uint64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::invalid, "program: no number");
  return amount;
}

Result<MemoryStep> read_step(std::string_view word) {
  static const std::map<std::string_view, Kind> kinds = {
      {"out", Kind::out},       {"err", Kind::err},  {"fill", Kind::fill},
      {"wait", Kind::wait},     {"cat", Kind::cat},  {"ignore-term", Kind::ignore_term},
      {"signal", Kind::signal}, {"exit", Kind::exit}};
  const auto equals = word.find('=');
  const auto kind = kinds.find(word.substr(0, equals));
  if (kind == kinds.end()) return fail(ErrorCode::invalid, "program: unknown step");
  const auto value = equals == word.npos ? std::string_view() : word.substr(equals + 1);
  MemoryStep step{kind->second, {}, 0, Duration{0}};
  if (step.kind == Kind::out || step.kind == Kind::err) {
    step.text = value;
  } else if (step.kind == Kind::wait) {
    OUTHAUL_TRY(span, parse_duration(value));
    step.span = std::chrono::duration_cast<Duration>(span);
  } else if (step.kind != Kind::cat && step.kind != Kind::ignore_term) {
    OUTHAUL_TRY(amount, read_amount(value));
    step.amount = amount;
  }
  return step;
}

}  // namespace

Result<MemoryProgram> read_program(const std::vector<std::string>& words) {
  MemoryProgram program;
  for (const auto& word : words) {
    OUTHAUL_TRY(step, read_step(word));
    program.push_back(std::move(step));
  }
  return program;
}

}  // namespace outhaul::testing
