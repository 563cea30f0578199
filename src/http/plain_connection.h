// Bytes as they are: for tests, and for a hub behind something that ends TLS.
#pragma once

#include <memory>

#include "http/connection.h"

namespace outhaul::http {

// Takes ownership of a connected stream socket.
std::unique_ptr<Connection> make_plain_connection(const Executor& executor, int descriptor);

}  // namespace outhaul::http
