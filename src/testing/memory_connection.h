// Two connections joined in memory, on one loop, with the rules of a socket: bytes in order, a bounded amount
// on the way (write_all waits), an end that is read after what was written before it.
#pragma once

#include <cstddef>
#include <memory>

#include "http/connection.h"

namespace outhaul::testing {

struct MemoryConnectionSettings {
  std::size_t capacity_bytes = std::size_t{64} * 1024;  // each way, written and not yet read
  std::size_t max_read_bytes = std::size_t(-1);         // 1: every read gives a single byte
};

struct MemoryConnections {
  std::unique_ptr<http::Connection> server;
  std::unique_ptr<http::Connection> client;
};

// `server_facts` is what the server's end knows of the client.
MemoryConnections make_memory_connections(const Executor& executor, MemoryConnectionSettings settings = {},
                                          http::PeerFacts server_facts = {});

}  // namespace outhaul::testing
