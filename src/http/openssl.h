// What the TLS sources share of OpenSSL: owners and error texts. Included by .cc files only.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
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

// The way OpenSSL reads and writes our sockets: send() with MSG_NOSIGNAL. `more_follows` is read at each
// write: true lets the kernel wait for the rest before it sends a short segment. Both outlive the BIO.
struct SocketBioPort {
  int descriptor = -1;
  bool more_follows = false;
};
BioHandle make_socket_bio(SocketBioPort& port);

}  // namespace outhaul::http
