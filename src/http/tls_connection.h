// TLS on a connected socket, by OpenSSL directly on the non-blocking descriptor: an idle connection keeps
// no buffers (decisions/0021).
#pragma once

#include <memory>
#include <string>

#include "http/connection.h"
#include "http/tls_context.h"

namespace outhaul::http {

// Both take ownership of a connected stream socket and complete after the handshake; give them a deadline
// with within(). The context may be destroyed afterwards.
//   errors  certificate_invalid, ca_fingerprint_mismatch: the server is not the one expected; says why
//           protocol_violation: the peer does not speak our TLS. unavailable: it left
Task<Result<std::unique_ptr<Connection>>> tls_accept(int descriptor, const TlsServerContext& context);

struct TlsClientName {
  std::string server_name;  // SNI, and the name or address that the certificate must bear
  Bytes resumption;         // of Connection::resumption(), or empty
};
Task<Result<std::unique_ptr<Connection>>> tls_connect(int descriptor, const TlsClientContext& context,
                                                      TlsClientName name);

}  // namespace outhaul::http
