// `outhaul-node run --ephemeral`: a machine that is a node for one stint.
#pragma once

#include "main/node_program.h"

namespace outhaul {

// Enrols, runs until the stint or a signal ends it, and leaves the hub's registry. Without a data directory
// it has one of its own below the temporary directory, which goes with it; one that was given stays. A
// directory whose node did not come to leave is gone on with, without a token. Gives the program's exit code:
// 0 when the hub has every result and no node any more.
int run_ephemeral_node(NodeOptions options);

}  // namespace outhaul
