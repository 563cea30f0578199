#include "main/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace outhaul {

void settle_standard_descriptors() {
  // open() takes the lowest free number. Read-only: a write to a closed standard output must fail, not
  // vanish.
  int opened = -1;
  do opened = ::open("/dev/null", O_RDONLY);
  while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened >= 0) ::close(opened);
}

}  // namespace outhaul
