#include "sandbox/spawn_packet.h"

#include <sys/resource.h>

#include <algorithm>

#include "launcher/protocol.h"

namespace outhaul::sandbox {
namespace {

// A NUL would end the string early and shift all that follow: what runs would not be what was signed.
Result<void> append_string(Bytes& packet, const std::string& text) {
  if (text.contains('\0'))
    return fail(ErrorCode::invalid, "spawn: a NUL byte in an argument, variable or path");
  packet.append(text).push_back('\0');
  return {};
}

void add_limit(launcher::SpawnRequest& request, std::uint32_t resource, std::uint64_t value) {
  request.limits[request.limit_count++] = {resource, 0, value, value};
}

launcher::SpawnRequest make_request(const ProcessSpec& spec, const SpawnPlace& place) {
  launcher::SpawnRequest request{};
  request.header = {launcher::PacketKind::spawn, launcher::protocol_version, 0, place.slot, 0};
  spec.task.text().copy(request.task_id, launcher::task_id_bytes - 1);
  request.flags = (spec.has_stdin ? launcher::spawn_with_stdin : 0) |
                  (spec.held.program ? launcher::spawn_executes_file : 0) |
                  (spec.held.directory ? launcher::spawn_in_held_directory : 0);
  request.nice = place.nice;
  request.pipe_grace_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(spec.pipe_grace).count());
  add_limit(request, RLIMIT_CORE, spec.limits.core_bytes);
  if (spec.limits.open_files != 0) add_limit(request, RLIMIT_NOFILE, spec.limits.open_files);
  request.argument_count = static_cast<std::uint32_t>(spec.argv.size());
  request.environment_count =
      static_cast<std::uint32_t>(spec.environment.size() + (place.marker.empty() ? 0 : 1));
  return request;
}

// In the order in which the launcher takes them.
std::vector<SharedDescriptor> files_of(const HeldFiles& held) {
  std::vector<SharedDescriptor> files;
  if (held.program) files.push_back(held.program);
  for (const auto& argument : held.arguments) files.push_back(argument.file);
  if (held.directory) files.push_back(held.directory);
  return files;
}

// The arguments, with the numbers that held ones will have in the program.
std::vector<std::string> with_held(const ProcessSpec& spec) {
  auto argv = spec.argv;
  int number = launcher::first_file_descriptor + (spec.held.program ? 1 : 0);
  for (const auto& argument : spec.held.arguments)
    argv.at(argument.index) = "/dev/fd/" + std::to_string(number++);
  return argv;
}

}  // namespace

Result<SpawnPacket> encode_spawn(const ProcessSpec& spec, const SpawnPlace& place) {
  if (spec.argv.empty()) return fail(ErrorCode::invalid, "spawn: no argument");
  if (spec.held.arguments.size() > ProcessLauncher::max_held_arguments)
    return fail(ErrorCode::invalid, "spawn: too many arguments are held");
  if (!spec.directory.starts_with('/'))
    return fail(ErrorCode::invalid, "spawn: the directory is not absolute");
  launcher::SpawnRequest request = make_request(spec, place);
  Bytes strings;
  OUTHAUL_CHECK(append_string(strings, spec.directory));
  for (const auto& argument : with_held(spec)) OUTHAUL_CHECK(append_string(strings, argument));
  for (const auto& variable : spec.environment) OUTHAUL_CHECK(append_string(strings, variable));
  if (!place.marker.empty()) OUTHAUL_CHECK(append_string(strings, place.marker));
  if (strings.size() > ProcessLauncher::max_spec_bytes) {
    return fail(Error(ErrorCode::too_large, "spawn: arguments and environment are over their limit")
                    .with("max_bytes", std::to_string(ProcessLauncher::max_spec_bytes)));
  }
  request.string_bytes = static_cast<std::uint32_t>(strings.size());
  request.header.bytes = static_cast<std::uint32_t>(sizeof request + strings.size());
  SpawnPacket packet{Bytes(), files_of(spec.held)};
  request.file_count = static_cast<std::uint32_t>(packet.files.size());
  packet.bytes.assign(reinterpret_cast<const char*>(&request), sizeof request);
  packet.bytes.append(strings);
  return packet;
}

}  // namespace outhaul::sandbox
