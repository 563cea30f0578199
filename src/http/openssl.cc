#include "http/openssl.h"

#include <openssl/pem.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/assert.h"

namespace outhaul::http {
namespace {

int finish_io(BIO* bio, ssize_t count, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  if (count >= 0) {
    *done = static_cast<std::size_t>(count);
    return count > 0 ? 1 : 0;
  }
  *done = 0;
  return -1;
}

int write_socket(BIO* bio, const char* bytes, std::size_t size, std::size_t* done) {
  const auto& port = *static_cast<SocketBioPort*>(BIO_get_data(bio));
  const int flags = MSG_NOSIGNAL | (port.more_follows ? MSG_MORE : 0);
  ssize_t count = 0;
  do count = ::send(port.descriptor, bytes, size, flags);
  while (count < 0 && errno == EINTR);
  const int result = finish_io(bio, count, done);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
  return result;
}

int read_socket(BIO* bio, char* bytes, std::size_t size, std::size_t* done) {
  const auto& port = *static_cast<SocketBioPort*>(BIO_get_data(bio));
  ssize_t count = 0;
  do count = ::recv(port.descriptor, bytes, size, 0);
  while (count < 0 && errno == EINTR);
  const int result = finish_io(bio, count, done);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return result;
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int create_socket(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

// Made once, lives as long as the process: OpenSSL keeps pointers to it in every connection.
const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "outhaul socket");
    OUTHAUL_ASSERT(made != nullptr);
    BIO_meth_set_write_ex(made, write_socket);
    BIO_meth_set_read_ex(made, read_socket);
    BIO_meth_set_ctrl(made, control_socket);
    BIO_meth_set_create(made, create_socket);
    return made;
  }();
  return method;
}

template <class Object>
Bytes to_der(int (*encode)(Object*, unsigned char**), Object* object) {
  const int size = encode(object, nullptr);
  OUTHAUL_ASSERT(size > 0);
  Bytes der(static_cast<std::size_t>(size), '\0');
  auto* at = reinterpret_cast<unsigned char*>(der.data());
  encode(object, &at);
  return der;
}

}  // namespace

Bytes certificate_der(const X509* certificate) { return to_der(i2d_X509, certificate); }

Bytes certificate_spki(const X509* certificate) {
  return to_der<const X509_PUBKEY>(i2d_X509_PUBKEY, X509_get_X509_PUBKEY(certificate));
}

Bytes certificate_pem(X509* certificate) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  OUTHAUL_ASSERT(memory != nullptr && PEM_write_bio_X509(memory.get(), certificate) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string take_openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "unknown failure";
}

BioHandle make_socket_bio(SocketBioPort& port) {
  BioHandle bio(BIO_new(socket_method()));
  OUTHAUL_ASSERT(bio != nullptr);
  BIO_set_data(bio.get(), &port);
  return bio;
}

}  // namespace outhaul::http
