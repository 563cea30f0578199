// What a node's owner decides by, in memory: the machine's programs as a table, and the lock. Both outlive
// the nodes that crash and restart over them.
#pragma once

#include <map>
#include <string>

#include "node/owner/owner_lock.h"
#include "node/owner/task_files.h"

namespace outhaul::testing {

class MemoryFiles final : public node::TaskFiles {
 public:
  struct File {
    std::uint64_t number = 0;  // another file has another one
    std::string content;
  };

  // Files and directories of another machine are others, whatever their names.
  explicit MemoryFiles(std::string machine = {}) : machine_(std::move(machine)) {}

  // Puts another file there.
  void put(const std::string& path, std::string content) {
    files_[path] = {++last_number_, std::move(content)};
  }
  // Writes into the one that stands there.
  void overwrite(const std::string& path, std::string content) {
    files_.at(path).content = std::move(content);
  }
  // A directory of the same name that is another one.
  void swap_directory(const std::string& path) { directories_[path] = ++last_number_; }

  std::optional<std::string> find_program(const std::string& name, const std::string& search_path,
                                          const std::string& directory) const override {
    if (name.starts_with('/')) return existing(name);
    if (name.contains('/')) return existing(directory + "/" + name);
    for (std::string_view rest = search_path; !rest.empty();) {
      const auto colon = rest.find(':');
      if (auto found = existing(std::string(rest.substr(0, colon)) + "/" + name)) return found;
      rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    }
    return std::nullopt;
  }
  std::optional<std::string> real_path(const std::string& path) const override { return path; }
  std::optional<std::string> identity(const std::string& path) const override {
    const auto file = files_.find(path);
    if (file != files_.end()) return machine_ + ":" + std::to_string(file->second.number);
    const auto directory = directories_.find(path);
    return machine_ + ":" + (directory == directories_.end() ? "first" : std::to_string(directory->second));
  }
  std::vector<std::string> script_line(const std::string&) const override { return {}; }
  std::optional<std::string> sha256(const std::string& path) const override {
    const auto file = files_.find(path);
    return file == files_.end() ? std::nullopt : std::optional("hash of " + file->second.content);
  }

  // Nothing here can be swapped behind the one who holds it.
  std::optional<node::HeldFile> hold(const std::string& path) const override {
    auto hash = sha256(path);
    if (!hash) return std::nullopt;
    return node::HeldFile{*identity(path), *std::move(hash), nullptr};
  }
  std::optional<node::HeldFile> hold_directory(const std::string& path) const override {
    return node::HeldFile{*identity(path), {}, nullptr};
  }

 private:
  std::optional<std::string> existing(const std::string& path) const {
    return files_.contains(path) ? std::optional(path) : std::nullopt;
  }

  std::string machine_;
  std::map<std::string, File> files_;
  std::map<std::string, std::uint64_t> directories_;
  std::uint64_t last_number_ = 0;
};

class MemoryLock final : public node::OwnerLock {
 public:
  std::optional<node::LockNotice> notice;
  bool is_unreadable = false;

  Result<std::optional<node::LockNotice>> load() const override {
    if (is_unreadable) return fail(ErrorCode::file_permissions_loose, "locked: others may write it");
    return notice;
  }
};

}  // namespace outhaul::testing
