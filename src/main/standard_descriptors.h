// The first thing every program does: descriptors 0, 1 and 2 exist, so that nothing it opens later takes
// their place and is then written to as if it were a terminal.
#pragma once

namespace outhaul {

// A closed one reads as its end and refuses every write. Before anything else is opened, and before any
// thread.
void settle_standard_descriptors();

}  // namespace outhaul
