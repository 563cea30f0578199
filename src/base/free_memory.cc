#include "base/free_memory.h"

#include <malloc.h>

#include <cstddef>

// Only in programs that link jemalloc.
extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_bytes, void* new_value,
                       std::size_t new_bytes) __attribute__((weak));

namespace outhaul {
namespace {

// What this thread's cache holds, then every arena (jemalloc's number for all of them is 4096).
void purge_jemalloc() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
}

}  // namespace

void give_back_free_memory() {
  if (mallctl != nullptr) return purge_jemalloc();
  ::malloc_trim(0);
}

}  // namespace outhaul
