// Connection: one ordered byte stream to one peer, whatever is below it (TCP, TLS, memory). Everything in
// http/ is written against this class and is never a template on the stream type.
// Runs on one strand. At most one read and one write may be in progress; a read beside a write is fine.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"

namespace outhaul::http {

enum class CertificateVerdict {
  none,     // the peer showed no certificate
  valid,    // it chains to the CA that this side trusts, and is within its dates
  expired,  // it chains to that CA, but is past its last day: only good for a renewal
  foreign,  // anything else; its bytes are not kept, so that nobody can take a name from them
};

// What is known about the other end once the connection stands. Never changes afterwards.
struct PeerFacts {
  std::string address;        // "192.0.2.7:51234", "[2001:db8::1]:443"; "local" for a socket pair or memory
  std::string server_name;    // SNI that the client sent; empty when none
  bool is_node_side = false;  // the server chose its node context for this connection
  CertificateVerdict certificate_verdict = CertificateVerdict::none;
  Bytes certificate_der;  // the peer's leaf; empty unless the verdict is valid or expired
  // SubjectPublicKeyInfo (DER) of the server's certificate: on a client the one it observed, on a server
  // the one it presented. Empty without TLS.
  Bytes server_spki_der;
  // On a client: the CA that the server's certificate chains to (PEM); empty after a resumed handshake.
  Bytes server_ca_pem;
};

class Connection {
 public:
  virtual ~Connection() = default;
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Fills as much of `into` (1 byte or more) as has arrived, waiting only for the first byte. 0: the peer
  // ended its side. Cancelling loses no byte.
  //   errors  unavailable: the connection broke or was killed. protocol_violation: bytes that are no TLS
  virtual Task<Result<std::size_t>> read_some(std::span<char> into) = 0;
  // Writes the views, in order, as one; completes when the kernel has every byte. They stay valid until
  // then. Cancelling kills the connection, because half a message cannot be recalled.
  virtual Task<Result<void>> write_all(ByteView first, ByteView second = {}, ByteView third = {}) = 0;
  // The same for any number of views; the array stays valid too.
  virtual Task<Result<void>> write_many(std::span<const ByteView> pieces);
  // Tells the peer that nothing more comes, as far as that needs no waiting, then closes. Otherwise as
  // kill().
  virtual void close() = 0;
  // Closes at once; a read or write in progress fails. May be called at any time, more than once.
  virtual void kill() = 0;
  virtual bool is_open() const = 0;
  virtual const PeerFacts& peer() const = 0;
  // Opaque bytes with which a later TLS handshake with the same server is cheaper; secret; empty when
  // there are none. Ask after the first response was read: the server sends them after its handshake.
  virtual Bytes resumption() const { return {}; }
  // Keeps what waits unsent in the kernel below 128 KiB, so that a short message is not stuck behind a long
  // one. For tunnels.
  virtual void limit_unsent() {}

  // For whoever sweeps (Server): a connection past its deadline is killed. max() means none.
  TimePoint deadline() const { return deadline_; }
  void set_deadline(TimePoint deadline) { deadline_ = deadline; }

 private:
  TimePoint deadline_ = TimePoint::max();
};

}  // namespace outhaul::http
