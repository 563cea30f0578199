// outhaul-launcher: started by a node with its listening socket as descriptor 3.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"

namespace {

constexpr int listener = 3;

// Nothing that we open may land on 0, 1 or 2, and nothing of the node's may stay open.
void settle_descriptors() {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  if (fcntl(2, F_GETFD) < 0) dup2(null, 2);
  if (null > 2 && null != listener) close(null);
  close_range(listener + 1, ~0U, 0);
}

int usage() {
  fputs("usage: outhaul-launcher --tag TEXT [--no-cgroup]   (descriptor 3: a listening socket)\n", stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  const char* tag = nullptr;
  bool use_cgroups = true;
  for (int i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--tag") == 0 && i + 1 < count) {
      tag = arguments[++i];
    } else if (strcmp(arguments[i], "--no-cgroup") == 0) {
      use_cgroups = false;
    } else {
      return usage();
    }
  }
  if (tag == nullptr || strchr(tag, '/') != nullptr || fcntl(listener, F_GETFD) < 0) return usage();
  settle_descriptors();
  static outhaul::launcher::Launcher launcher;
  return launcher.run(listener, tag, use_cgroups);
}
