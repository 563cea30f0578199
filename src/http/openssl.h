// What the TLS sources share of OpenSSL: owners and error texts. Included by .cc files only.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"

namespace outhaul::http {

template <auto free_function>
struct OpenSslFree {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using SslHandle = std::unique_ptr<SSL, OpenSslFree<SSL_free>>;
using SslSessionHandle = std::unique_ptr<SSL_SESSION, OpenSslFree<SSL_SESSION_free>>;
using BioHandle = std::unique_ptr<BIO, OpenSslFree<BIO_free_all>>;
using CertificateHandle = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using PrivateKeyHandle = std::unique_ptr<EVP_PKEY, OpenSslFree<EVP_PKEY_free>>;

Bytes certificate_der(const X509* certificate);
Bytes certificate_pem(X509* certificate);
Bytes certificate_spki(const X509* certificate);

// OpenSSL's own sentence for the first error in this thread's queue (a constant, never a peer's text), and
// empties the queue.
std::string take_openssl_reason();

// The way OpenSSL reads and writes our sockets. What it writes is gathered, so that the records of one
// message leave in one system call, until flush() or BIO_flush(). Outlives the BIO.
class SocketBioPort {
 public:
  explicit SocketBioPort(int descriptor) : descriptor_(descriptor) {}

  // More than this is not gathered: an unsent rest makes the next write ask for a retry.
  static constexpr std::size_t max_gathered_bytes = 128 * 1024;

  enum class Flushed { all, would_block, broken };
  Flushed flush();
  bool has_unsent() const { return sent_ < gathered_.size(); }
  bool is_full() const { return gathered_.size() - sent_ >= max_gathered_bytes; }
  void gather(ByteView bytes);
  ssize_t receive(std::span<char> into) const;
  // Nothing more is read or written.
  void detach() { descriptor_ = -1; }

 private:
  int descriptor_;
  Bytes gathered_;
  std::size_t sent_ = 0;
};
BioHandle make_socket_bio(SocketBioPort& port);

}  // namespace outhaul::http
