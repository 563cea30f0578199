#include "node/owner/task_binding.h"

#include <algorithm>
#include <functional>

#include "crypto/digest.h"
#include "policy/known_programs.h"
#include "policy/shell_reader.h"
#include "stream/little_endian.h"

namespace outhaul::node {
namespace {

constexpr std::string_view path_variable = "PATH=";
// Of one task; what names more has to be taken apart.
constexpr std::size_t max_bound_files = 64;

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool is_interpreter(const std::string& program, const std::string& real) {
  return policy::is_interpreter(base_name(program)) || policy::is_interpreter(base_name(real));
}

// What a word of a command names if it names a file.
std::optional<std::string> path_of(const std::string& word, const sandbox::ProcessSpec& spec,
                                   const TaskFiles& files) {
  if (word.empty() || word.starts_with('-')) return std::nullopt;
  return files.real_path(word.starts_with('/') ? word : spec.directory + "/" + word);
}

// Collects the files that decide what a command does.
class FileList {
 public:
  // How a file is taken into the list; empty: it cannot be.
  using Take = std::function<std::optional<HeldFile>(const std::string& path)>;

  FileList(const sandbox::ProcessSpec& spec, const TaskFiles& files, Take take)
      : spec_(spec), files_(files), take_(std::move(take)), search_path_(search_path_of(spec)) {}

  Result<std::vector<BoundFile>> collect() {
    // A command that cannot be read is bound by its own program and words alone.
    const auto calls = policy::read_command(spec_.argv);
    const std::vector<policy::ProgramCall> alone = {
        {.program = spec_.argv.front(), .arguments = {spec_.argv.begin() + 1, spec_.argv.end()}}};
    for (const auto& call : calls ? *calls : alone) OUTHAUL_CHECK(add_call(call));
    if (list_.size() > max_bound_files) return cannot_bind();
    return std::move(list_);
  }

 private:
  static std::unexpected<Error> cannot_bind() {
    return fail(ErrorCode::task_policy_refused, "a file of the task cannot be bound to an answer");
  }

  Result<void> add_call(const policy::ProgramCall& call) {
    const auto program = files_.find_program(call.program, search_path_, spec_.directory);
    if (!program) return {};  // it cannot start; and if it can later, the list is another
    if (!add(*program)) return cannot_bind();
    // "#!/usr/bin/env python3" names two.
    for (const auto& word : files_.script_line(*program)) {
      const auto named = files_.find_program(word, search_path_, spec_.directory);
      if (named && !add(*named)) return cannot_bind();
    }
    if (!is_interpreter(call.program, *program)) return {};
    // What an interpreter reads is named by its arguments; not all of them are files.
    for (const auto& argument : call.arguments) {
      const auto path = path_of(argument, spec_, files_);
      if (path && !add(*path) && is_script(*path)) return cannot_bind();
    }
    return {};
  }

  // Whether an interpreter could run what stands there as one text: a pipe, say, or a file that is too large.
  bool is_script(const std::string& path) const {
    return !path.starts_with("/dev/") && files_.identity(path) && !files_.hold_directory(path);
  }

  bool add(const std::string& path) {
    if (std::ranges::count(list_, path, &BoundFile::path) > 0) return true;
    if (list_.size() > max_bound_files) return false;
    auto file = take_(path);
    if (file) list_.push_back({path, *std::move(file)});
    return file.has_value();
  }

  const sandbox::ProcessSpec& spec_;
  const TaskFiles& files_;
  Take take_;
  std::string search_path_;
  std::vector<BoundFile> list_;
};

// Each text with its length, so that no two lists give the same bytes.
class Digest {
 public:
  void add(std::string_view text) {
    stream::append_le(bytes_, std::uint64_t{text.size()});
    bytes_.append(text);
  }
  void add_list(const std::vector<std::string>& texts) {
    stream::append_le(bytes_, std::uint64_t{texts.size()});
    for (const auto& text : texts) add(text);
  }
  Bytes finish() const { return crypto::sha256(bytes_); }

 private:
  Bytes bytes_;
};

Bytes digest_of(const sandbox::ProcessSpec& spec, const AccountId& owner, const std::string& directory,
                const std::vector<BoundFile>& files) {
  Digest digest;
  digest.add(owner.text());
  digest.add_list(spec.argv);
  digest.add_list(spec.environment);
  digest.add(spec.directory);
  digest.add(directory);
  for (const auto& file : files) {
    for (const auto* part : {&file.path, &file.held.identity, &file.held.sha256}) digest.add(*part);
  }
  return digest.finish();
}

sandbox::SharedDescriptor held_at(const std::vector<BoundFile>& files, const std::string& path) {
  const auto found = std::ranges::find(files, path, &BoundFile::path);
  return found == files.end() ? nullptr : found->held.descriptor;
}

std::optional<HeldFile> look(const std::string& path, const TaskFiles& files) {
  auto identity = files.identity(path);
  auto hash = files.sha256(path);
  if (!identity || !hash) return std::nullopt;
  return HeldFile{*std::move(identity), *std::move(hash), nullptr};
}

struct Script {
  std::size_t index = 0;  // in argv; 0: there is none
  std::string path;
};

// The first argument of an interpreter that names a file is its script; a later one may be what it writes.
Script find_script(const sandbox::ProcessSpec& spec, const std::string& program, const TaskFiles& files) {
  if (!is_interpreter(spec.argv.front(), program)) return {};
  for (std::size_t i = 1; i < spec.argv.size(); ++i) {
    auto path = path_of(spec.argv[i], spec, files);
    if (path && files.identity(*path)) return {i, *std::move(path)};
  }
  return {};
}

}  // namespace

std::string search_path_of(const sandbox::ProcessSpec& spec) {
  for (const auto& variable : spec.environment) {
    if (variable.starts_with(path_variable)) return variable.substr(path_variable.size());
  }
  return {};
}

Result<TaskBinding> bind_task(const sandbox::ProcessSpec& spec, const AccountId& owner,
                              const TaskFiles& files) {
  TaskBinding binding;
  OUTHAUL_TRY(bound,
              FileList(spec, files, [&files](const auto& path) { return look(path, files); }).collect());
  binding.files = std::move(bound);
  const auto directory = files.identity(spec.directory).value_or("");
  binding.digest = digest_of(spec, owner, directory, binding.files);
  return binding;
}

Result<HeldTask> hold_task(sandbox::ProcessSpec spec, const AccountId& owner, const TaskFiles& files) {
  const auto directory = files.hold_directory(spec.directory).value_or(HeldFile());
  const auto program =
      files.find_program(spec.argv.front(), search_path_of(spec), spec.directory).value_or("");
  const auto script = find_script(spec, program, files);
  const auto take = [&](const std::string& path) {
    return path == program || path == script.path ? files.hold(path) : look(path, files);
  };
  HeldTask task;
  OUTHAUL_TRY(bound, FileList(spec, files, take).collect());
  task.binding.files = std::move(bound);
  task.binding.digest = digest_of(spec, owner, directory.identity, task.binding.files);
  spec.held.directory = directory.descriptor;
  spec.held.program = held_at(task.binding.files, program);
  if (auto held = held_at(task.binding.files, script.path))
    spec.held.arguments.push_back({script.index, std::move(held)});
  task.spec = std::move(spec);
  return task;
}

}  // namespace outhaul::node
