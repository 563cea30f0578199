// The directory of a program's streams: made once, with its journal, together with the data directory. From
// then on it is only opened: whatever is missing from it was lost, and an empty one in its place would hide
// that.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace outhaul {

// Makes it, or ends the making that an earlier process began. One that was in use stays as it is.
Result<void> make_stream_directory(const std::filesystem::path& path);
//   errors  journal_corrupt: it is not there
Result<void> require_stream_directory(const std::filesystem::path& path);

}  // namespace outhaul
