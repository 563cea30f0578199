#include "stream/scratch_disk.h"

#include <algorithm>

namespace outhaul::stream {

// The front of a file below, then bytes of our own.
struct ScratchDisk::Content {
  std::string name_below;  // empty: there is none
  std::shared_ptr<File> file;
  std::uint64_t kept = 0;  // of the file below
  Bytes added;

  std::uint64_t size() const { return kept + added.size(); }
};

class ScratchFile final : public File {
 public:
  explicit ScratchFile(std::shared_ptr<ScratchDisk::Content> content) : content_(std::move(content)) {}

  std::uint64_t size() const override { return content_->size(); }

  Result<void> append(std::span<const ByteView> parts) override {
    for (const auto part : parts) content_->added.append(part);
    return {};
  }

  Result<Bytes> read_at(std::uint64_t offset, std::size_t count) override {
    Bytes bytes;
    if (offset < content_->kept) {
      const auto below = std::min<std::uint64_t>(count, content_->kept - offset);
      OUTHAUL_TRY(read, content_->file->read_at(offset, below));
      bytes = std::move(read);
      if (bytes.size() < below) return bytes;
    }
    const std::uint64_t at = offset + bytes.size() - std::min(content_->kept, offset + bytes.size());
    if (at < content_->added.size()) bytes += ByteView(content_->added).substr(at, count - bytes.size());
    return bytes;
  }

  Result<void> truncate(std::uint64_t size) override {
    content_->added.resize(size - std::min(size, content_->kept));
    content_->kept = std::min(content_->kept, size);
    return {};
  }

  Task<Result<void>> sync() override { co_return Result<void>(); }
  void keep_room_ahead(std::uint64_t) override {}
  void drop_cache(std::uint64_t up_to) override {
    if (content_->file) content_->file->drop_cache(std::min(up_to, content_->kept));
  }

 private:
  std::shared_ptr<ScratchDisk::Content> content_;
};

Result<void> ScratchDisk::look() {
  if (has_looked_) return {};
  OUTHAUL_TRY(entries, below_.list());
  for (const auto& entry : entries) {
    auto content = std::make_shared<Content>();
    content->name_below = entry.name;
    content->kept = entry.size;
    files_.emplace(entry.name, std::move(content));
  }
  has_looked_ = true;
  return {};
}

Result<std::unique_ptr<File>> ScratchDisk::open(const std::string& name, OpenMode mode) {
  OUTHAUL_CHECK(look());
  const auto found = files_.find(name);
  const bool is_there = found != files_.end();
  if (mode == OpenMode::create) {
    if (is_there) return fail(ErrorCode::conflict, "open " + name + ": file exists");
    const auto made = files_.emplace(name, std::make_shared<Content>()).first;
    return std::make_unique<ScratchFile>(made->second);
  }
  if (!is_there) return fail(ErrorCode::not_found, "open " + name + ": no such file");
  auto& content = *found->second;
  if (content.file == nullptr && !content.name_below.empty()) {
    OUTHAUL_TRY(file, below_.open(content.name_below, OpenMode::existing));
    content.file = std::move(file);
  }
  return std::make_unique<ScratchFile>(found->second);
}

Result<std::vector<FileEntry>> ScratchDisk::list() {
  OUTHAUL_CHECK(look());
  std::vector<FileEntry> entries;
  for (const auto& [name, content] : files_) entries.push_back({name, content->size()});
  return entries;
}

Result<void> ScratchDisk::remove(const std::string& name) {
  OUTHAUL_CHECK(look());
  if (files_.erase(name) == 0) return fail(ErrorCode::not_found, "remove " + name + ": no such file");
  return {};
}

Result<void> ScratchDisk::rename(const std::string& from, const std::string& to) {
  OUTHAUL_CHECK(look());
  auto node = files_.extract(from);
  if (node.empty()) return fail(ErrorCode::not_found, "rename " + from + ": no such file");
  files_[to] = std::move(node.mapped());
  return {};
}

}  // namespace outhaul::stream
