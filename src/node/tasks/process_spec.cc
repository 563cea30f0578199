#include "node/tasks/process_spec.h"

#include <map>
#include <variant>

namespace outhaul::node {
namespace {

constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> make_argv(const wire::TaskAction& action) {
  if (const auto* argv = std::get_if<wire::ArgvAction>(&action)) return argv->argv;
  if (const auto* shell = std::get_if<wire::ShellAction>(&action)) return {"/bin/sh", "-c", shell->line};
  return {};
}

std::vector<std::string> make_environment(const wire::TaskSpec& task, const NodeSettings& settings) {
  std::map<std::string, std::string> variables = {
      {"HOME", settings.home.empty() ? settings.workspace : settings.home},
      {"LANG", "C.UTF-8"},
      {"PATH", default_path},
  };
  for (const auto& variable : task.env) variables[variable.name] = variable.value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace

sandbox::ProcessSpec make_process_spec(const wire::TaskSpec& task, const NodeSettings& settings) {
  sandbox::ProcessSpec spec;
  spec.task = task.task_id;
  spec.argv = make_argv(task.action);
  spec.environment = make_environment(task, settings);
  spec.directory = task.cwd.empty() ? settings.workspace : settings.workspace + "/" + task.cwd;
  spec.has_stdin = task.stdin_stream_id.has_value();
  spec.pipe_grace = settings.pipe_grace;
  return spec;
}

}  // namespace outhaul::node
