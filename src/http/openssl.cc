#include "http/openssl.h"

#include <openssl/pem.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/assert.h"

namespace outhaul::http {
namespace {

// One buffer for all connections of a thread: writes come one after the other, and only what the system does
// not take at once stays with its connection.
Bytes& spare_buffer() {
  thread_local Bytes spare;
  return spare;
}

SocketBioPort& port_of(BIO* bio) { return *static_cast<SocketBioPort*>(BIO_get_data(bio)); }

// 1 when all has left; else what OpenSSL takes for "try again" or "broken".
int flush_socket(BIO* bio) {
  BIO_clear_retry_flags(bio);
  const auto flushed = port_of(bio).flush();
  if (flushed == SocketBioPort::Flushed::would_block) BIO_set_retry_write(bio);
  return flushed == SocketBioPort::Flushed::all ? 1 : -1;
}

int write_socket(BIO* bio, const char* bytes, std::size_t size, std::size_t* done) {
  auto& port = port_of(bio);
  *done = 0;
  BIO_clear_retry_flags(bio);
  if (port.is_full()) {
    if (const int result = flush_socket(bio); result != 1 && port.is_full()) return result;
    BIO_clear_retry_flags(bio);
  }
  port.gather({bytes, size});
  *done = size;
  return 1;
}

int read_socket(BIO* bio, char* bytes, std::size_t size, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  const ssize_t count = port_of(bio).receive({bytes, size});
  *done = count > 0 ? static_cast<std::size_t>(count) : 0;
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return count > 0 ? 1 : static_cast<int>(count);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? flush_socket(bio) : 0;
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

void SocketBioPort::gather(ByteView bytes) {
  if (gathered_.empty()) gathered_.swap(spare_buffer());
  gathered_.append(bytes);
}

SocketBioPort::Flushed SocketBioPort::flush() {
  while (has_unsent()) {
    const auto count = ::send(descriptor_, gathered_.data() + sent_, gathered_.size() - sent_, MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Flushed::would_block;
    } else if (errno != EINTR) {
      return Flushed::broken;
    }
  }
  sent_ = 0;
  gathered_.clear();
  if (gathered_.capacity() > spare_buffer().capacity()) gathered_.swap(spare_buffer());
  gathered_ = Bytes();
  return Flushed::all;
}

ssize_t SocketBioPort::receive(std::span<char> into) const {
  ssize_t count = 0;
  do count = ::recv(descriptor_, into.data(), into.size(), 0);
  while (count < 0 && errno == EINTR);
  return count;
}

BioHandle make_socket_bio(SocketBioPort& port) {
  BioHandle bio(BIO_new(socket_method()));
  OUTHAUL_ASSERT(bio != nullptr);
  BIO_set_data(bio.get(), &port);
  return bio;
}

}  // namespace outhaul::http
