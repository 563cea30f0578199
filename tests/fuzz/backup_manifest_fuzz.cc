// Any text as a backup's manifest: refused with a code of its own, or names that stay in the directory.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "hub/backup_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using outhaul::ErrorCode;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto manifest = outhaul::hub::parse_backup_manifest(input);
  if (!manifest) {
    const auto code = manifest.error().code();
    OUTHAUL_ASSERT(code == ErrorCode::backup_damaged || code == ErrorCode::backup_foreign ||
                   code == ErrorCode::data_format_newer);
    return 0;
  }
  for (const auto& file : manifest->files)
    OUTHAUL_ASSERT(!file.name.starts_with('/') && !file.name.starts_with('.'));
  OUTHAUL_ASSERT(*outhaul::hub::parse_backup_manifest(outhaul::hub::serialise_backup_manifest(*manifest)) ==
                 *manifest);
  return 0;
}
