#include "base/free_memory.h"

#include <malloc.h>

namespace outhaul {

void give_back_free_memory() { ::malloc_trim(0); }

}  // namespace outhaul
