#include "main/stream_directory.h"

#include <algorithm>

#include "main/run_on_loop.h"
#include "stream/file_disk.h"
#include "stream/journal.h"

namespace outhaul {

Result<void> make_stream_directory(const std::filesystem::path& path) {
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) return fail(ErrorCode::unavailable, path.string() + ": " + fault.message());
  asio::io_context io(1);
  stream::FileDisk disk(io.get_executor(), path);
  OUTHAUL_TRY(files, disk.list());
  // Larger than a journal of which nothing was ever promised.
  const auto is_in_use = [](const stream::FileEntry& file) {
    return file.size > stream::journal_header_bytes + stream::journal_frame_bytes;
  };
  if (std::ranges::any_of(files, is_in_use)) return {};
  OUTHAUL_CHECK(run_on_loop(io, stream::Journal::open(disk, {})));
  return {};
}

Result<void> require_stream_directory(const std::filesystem::path& path) {
  std::error_code fault;
  if (std::filesystem::is_directory(path, fault)) return {};
  return fail(Error(ErrorCode::journal_corrupt,
                    path.string() + ": the directory of the journal is missing; none is made in its place")
                  .with("file", path.string()));
}

}  // namespace outhaul
