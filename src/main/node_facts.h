// What this machine says of itself in the node's manifest.
#pragma once

#include <string>

#include "node/node_settings.h"

namespace outhaul {

node::NodeFacts read_node_facts();
// The host's name as a node's name: lower case, other characters become '-'; "node" when nothing is left.
std::string default_node_name();

}  // namespace outhaul
