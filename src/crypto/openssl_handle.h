// Owners of OpenSSL objects. For the .cc files of this folder only: no other header includes it.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/bytes.h"

namespace outhaul::crypto {

template <auto free_function>
struct OpensslFree {
  template <class Object>
  void operator()(Object* object) const {
    free_function(object);
  }
};
using BioHandle = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using X509Handle = std::unique_ptr<X509, OpensslFree<X509_free>>;
using RequestHandle = std::unique_ptr<X509_REQ, OpensslFree<X509_REQ_free>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;
using GeneralNamesHandle = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

// OpenSSL's queue of errors belongs to the thread. Whatever a failed call leaves there would later be taken
// for the failure of somebody's TLS connection, so each function that may fail holds one of these.
class ErrorQueueGuard {
 public:
  ErrorQueueGuard() = default;
  ErrorQueueGuard(const ErrorQueueGuard&) = delete;
  ErrorQueueGuard& operator=(const ErrorQueueGuard&) = delete;
  ~ErrorQueueGuard() { ERR_clear_error(); }
};

inline const unsigned char* as_octets(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* as_octets(Bytes& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

// A read-only BIO over `bytes`, which must outlive it. `bytes` is at most INT_MAX long.
inline BioHandle reading_bio(ByteView bytes) {
  return BioHandle(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}
inline BioHandle writing_bio() { return BioHandle(BIO_new(BIO_s_mem())); }
// A copy of what was written.
inline std::string written_text(BIO& bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(&bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

// DER by one of OpenSSL's i2d functions; empty when it fails.
template <class Object>
Bytes to_der(int (*encode)(const Object*, unsigned char**), const Object* object) {
  const int size = encode(object, nullptr);
  if (size <= 0) return {};
  Bytes der(static_cast<std::size_t>(size), '\0');
  unsigned char* at = as_octets(der);
  if (encode(object, &at) != size) return {};
  return der;
}

// Refuses encrypted PEM. OpenSSL's own callback would ask for a pass phrase on the terminal.
inline int refuse_pass_phrase(char*, int, int, void*) { return -1; }

}  // namespace outhaul::crypto
