#include "stream/memory_disk.h"

#include <algorithm>

#include "base/assert.h"

namespace outhaul::stream {

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryDisk& disk, std::shared_ptr<MemoryDiskImage::Content> content)
      : disk_(disk), content_(std::move(content)) {}

  std::uint64_t size() const override { return content_->bytes.size(); }

  Result<void> append(std::span<const ByteView> parts) override {
    OUTHAUL_CHECK(disk_.check_alive());
    if (disk_.faults.fail_appends)
      return fail(ErrorCode::unavailable, "memory disk: append was told to fail");
    std::uint64_t count = 0;
    for (const auto part : parts) count += part.size();
    if (disk_.image_.used_bytes() + count > disk_.image_.capacity)
      return fail(ErrorCode::disk_full, "memory disk: full");
    for (const auto part : parts) content_->bytes.append(part);
    return {};
  }

  Result<Bytes> read_at(std::uint64_t offset, std::size_t count) override {
    OUTHAUL_CHECK(disk_.check_alive());
    if (offset >= size()) return Bytes();
    return content_->bytes.substr(offset, count);
  }

  Result<void> truncate(std::uint64_t size) override {
    OUTHAUL_CHECK(disk_.check_alive());
    OUTHAUL_ASSERT(size <= content_->bytes.size());
    content_->bytes.resize(size);
    content_->synced = std::min(content_->synced, size);
    return {};
  }

  Task<Result<void>> sync() override {
    const auto content = content_;
    const std::uint64_t written = content->bytes.size();
    OUTHAUL_CO_TRY(holds, co_await disk_.pass_sync());
    if (holds) content->synced = std::max(content->synced, std::min(written, content->bytes.size()));
    co_return Result<void>();
  }

  // A hint, and zeros at the end are what lose_power() may leave anyway.
  void keep_room_ahead(std::uint64_t) override {}
  void drop_cache(std::uint64_t) override {}

 private:
  MemoryDisk& disk_;
  std::shared_ptr<MemoryDiskImage::Content> content_;
};

MemoryDiskImage MemoryDiskImage::copy() const {
  MemoryDiskImage copied;
  copied.capacity = capacity;
  for (const auto& [name, content] : files)
    copied.files[name] = std::make_shared<Content>(Content{content->bytes, content->bytes.size()});
  copied.durable_entries = copied.files;
  return copied;
}

std::uint64_t MemoryDiskImage::used_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [name, content] : files) used += content->bytes.size();
  return used;
}

// Each name that differs from what the last directory sync saw is kept or undone by chance.
void MemoryDiskImage::settle_names(Random& random) {
  Files settled = durable_entries;
  for (const auto& [name, content] : durable_entries) {
    if (!files.contains(name) && random.below(2) == 0) settled.erase(name);
  }
  for (const auto& [name, content] : files) {
    const auto before = durable_entries.find(name);
    const bool changed = before == durable_entries.end() || before->second != content;
    if (changed && random.below(2) == 0) settled[name] = content;
  }
  files = settled;
  durable_entries = std::move(settled);
}

void MemoryDiskImage::lose_power(Random& random) {
  settle_names(random);
  for (auto& [name, content] : files) {
    const std::uint64_t unsynced = content->bytes.size() - content->synced;
    const std::uint64_t kept = unsynced == 0 ? 0 : random.below(unsynced + 1);
    // The last write may have reached the platter in part: its bytes are anything.
    const std::uint64_t torn =
        kept == 0 || random.below(2) == 0 ? 0 : random.below(std::min<std::uint64_t>(kept, 64)) + 1;
    content->bytes.resize(content->synced + kept - torn);
    content->bytes += random.bytes(torn);
    content->synced = content->bytes.size();
  }
}

MemoryDisk::MemoryDisk(MemoryDiskImage& image, const Executor& executor, AsyncClock& clock)
    : image_(image), clock_(clock), never_(executor) {}

void MemoryDisk::deaden() { is_dead_ = true; }

Result<void> MemoryDisk::check_alive() const {
  if (is_dead_) return fail(ErrorCode::unavailable, "memory disk: its process has died");
  return {};
}

Task<Result<bool>> MemoryDisk::pass_sync() {
  if (!is_dead_ && faults.sync_latency > Duration::zero()) co_await clock_.sleep_for(faults.sync_latency);
  if (is_dead_) co_await never_.wait();
  if (faults.fail_syncs) co_return fail(ErrorCode::unavailable, "memory disk: sync was told to fail");
  co_return !faults.lose_syncs;
}

Result<std::unique_ptr<File>> MemoryDisk::open(const std::string& name, OpenMode mode) {
  OUTHAUL_CHECK(check_alive());
  if (!is_file_name(name))
    return fail(ErrorCode::invalid, "file name: not 1 to 128 characters of [a-z0-9._-]");
  const auto found = image_.files.find(name);
  if (mode == OpenMode::existing) {
    if (found == image_.files.end()) return fail(ErrorCode::not_found, "open " + name + ": no such file");
    return std::make_unique<MemoryFile>(*this, found->second);
  }
  if (found != image_.files.end()) return fail(ErrorCode::conflict, "open " + name + ": file exists");
  auto content = std::make_shared<MemoryDiskImage::Content>();
  image_.files.emplace(name, content);
  return std::make_unique<MemoryFile>(*this, std::move(content));
}

Result<std::vector<FileEntry>> MemoryDisk::list() {
  OUTHAUL_CHECK(check_alive());
  std::vector<FileEntry> entries;
  for (const auto& [name, content] : image_.files) entries.push_back({name, content->bytes.size()});
  return entries;
}

Result<void> MemoryDisk::remove(const std::string& name) {
  OUTHAUL_CHECK(check_alive());
  if (image_.files.erase(name) == 0) return fail(ErrorCode::not_found, "remove " + name + ": no such file");
  return {};
}

Result<void> MemoryDisk::rename(const std::string& from, const std::string& to) {
  OUTHAUL_CHECK(check_alive());
  if (!is_file_name(to)) return fail(ErrorCode::invalid, "file name: not 1 to 128 characters of [a-z0-9._-]");
  auto node = image_.files.extract(from);
  if (node.empty()) return fail(ErrorCode::not_found, "rename " + from + ": no such file");
  image_.files[to] = std::move(node.mapped());
  return {};
}

Task<Result<void>> MemoryDisk::sync_directory() {
  OUTHAUL_CO_CHECK(check_alive());
  auto names = image_.files;
  OUTHAUL_CO_TRY(holds, co_await pass_sync());
  if (holds) image_.durable_entries = std::move(names);
  co_return Result<void>();
}

Result<std::uint64_t> MemoryDisk::free_bytes() {
  OUTHAUL_CHECK(check_alive());
  const std::uint64_t used = image_.used_bytes();
  return image_.capacity > used ? image_.capacity - used : 0;
}

}  // namespace outhaul::stream
