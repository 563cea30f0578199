#include "http/plain_connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "http/kill_unless_done.h"
#include "http/socket.h"
#include "http/write_pieces.h"

namespace outhaul::http {
namespace {

std::unexpected<Error> broken(int reason) {
  return fail(ErrorCode::unavailable, std::string("connection: ") + ::strerrordesc_np(reason));
}

bool would_block(int reason) { return reason == EAGAIN || reason == EWOULDBLOCK; }

class PlainConnection final : public Connection {
 public:
  PlainConnection(const Executor& executor, int descriptor) : socket_(executor, descriptor) {
    peer_.address = peer_address(descriptor);
  }

  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    for (;;) {
      const auto count = ::recv(socket_.native(), into.data(), into.size(), 0);
      if (count >= 0) co_return static_cast<std::size_t>(count);
      if (errno == EINTR) continue;
      if (!would_block(errno)) co_return broken(errno);
      OUTHAUL_CO_CHECK(co_await socket_.wait_readable());
    }
  }

  Task<Result<void>> write_all(ByteView first, ByteView second, ByteView third) override {
    return write(WritePieces(first, second, third));
  }
  Task<Result<void>> write_many(std::span<const ByteView> pieces) override {
    return write(WritePieces(pieces));
  }

  void close() override { socket_.close(); }
  void kill() override { socket_.close(); }
  bool is_open() const override { return socket_.is_open(); }
  const PeerFacts& peer() const override { return peer_; }
  void limit_unsent() override { socket_.limit_unsent(); }

 private:
  Task<Result<void>> write(WritePieces pieces) {
    KillUnlessDone guard(*this);
    while (!pieces.is_empty()) {
      auto vectors = pieces.vectors();
      msghdr message{};
      message.msg_iov = vectors.data();
      message.msg_iovlen = vectors.size();
      const auto count = ::sendmsg(socket_.native(), &message, MSG_NOSIGNAL);
      if (count >= 0) {
        pieces.consume(static_cast<std::size_t>(count));
      } else if (would_block(errno)) {
        OUTHAUL_CO_CHECK(co_await socket_.wait_writable());
      } else if (errno != EINTR) {
        co_return broken(errno);
      }
    }
    guard.done();
    co_return Result<void>();
  }

  Socket socket_;
  PeerFacts peer_;
};

}  // namespace

std::unique_ptr<Connection> make_plain_connection(const Executor& executor, int descriptor) {
  return std::make_unique<PlainConnection>(executor, descriptor);
}

}  // namespace outhaul::http
