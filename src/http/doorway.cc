#include "http/doorway.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <optional>

namespace outhaul::http {
namespace {

constexpr std::size_t record_header_bytes = 5;
constexpr std::size_t max_record_bytes = 16384;

// In the list for as long as it lives.
template <class Entry>
class Listed {
 public:
  Listed(std::list<Entry*>& list, Entry& entry) : list_(list), place_(list.insert(list.end(), &entry)) {}
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() { list_.erase(place_); }

 private:
  std::list<Entry*>& list_;
  typename std::list<Entry*>::iterator place_;
};

std::size_t available_bytes(const Socket& socket) {
  int count = 0;
  return ::ioctl(socket.native(), FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

// How many must be there before the first TLS record can be read whole, by what has come.
std::size_t needed_bytes(const Socket& socket) {
  std::array<unsigned char, record_header_bytes> head{};
  const auto count = ::recv(socket.native(), head.data(), head.size(), MSG_PEEK);
  if (count < static_cast<ssize_t>(record_header_bytes)) return record_header_bytes;
  return record_header_bytes + std::min<std::size_t>(head[3] * 256U + head[4], max_record_bytes);
}

// Readable means from now on: so many bytes, or the end. Sockets that do not know the option (pairs in tests)
// stay as they are.
void set_readable_at(const Socket& socket, std::size_t bytes) {
  const auto low_water = static_cast<int>(bytes);
  static_cast<void>(::setsockopt(socket.native(), SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof low_water));
}

std::unexpected<Error> gone() { return fail(ErrorCode::unavailable, "tls: left before it said anything"); }

}  // namespace

// A place among the handshakes.
class Doorway::Turn {
 public:
  Turn(Doorway& doorway, Shaking& shaking)
      : doorway_(doorway), place_(std::in_place, doorway.shaking_, shaking) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    place_.reset();
    doorway_.give_turn();
  }

 private:
  Doorway& doorway_;
  std::optional<Listed<Shaking>> place_;
};

Doorway::Doorway(const Executor& executor, AsyncClock& clock, const TlsServerContext& tls, Limits limits)
    : executor_(executor), clock_(clock), tls_(tls), limits_(limits) {}

void Doorway::Silent::drop() {
  socket.close();
  if (turn != nullptr) turn->set();
}

Task<Result<std::unique_ptr<Connection>>> Doorway::greet(int descriptor) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  OUTHAUL_CO_TRY(heard, co_await hear(descriptor));
  Shaking shaking{clock_.now(), Event(executor_)};
  const Turn turn(*this, shaking);
  auto first = co_await (tls_accept(heard, tls_) || shaking.over.wait());
  if (first.index() == 1) co_return fail(ErrorCode::unavailable, "tls: no handshake in time");
  co_return std::get<0>(std::move(first));
}

// The descriptor again, once its ClientHello is there and its turn has come.
Task<Result<int>> Doorway::hear(int descriptor) {
  Silent silent{Socket(executor_, descriptor), clock_.now() + limits_.silence};
  const Listed<Silent> place(silent_, silent);
  if (silent_.size() > limits_.max_silent) silent_.front()->drop();
  OUTHAUL_CO_CHECK(co_await hear_hello(silent.socket));
  while (silent.socket.is_open() && shaking_.size() >= limits_.max_handshakes) co_await await_turn(silent);
  if (!silent.socket.is_open()) co_return gone();
  co_return silent.socket.release();
}

// Bytes stay in the kernel until the whole record is there: a byte now and then wakes nobody.
Task<Result<void>> Doorway::hear_hello(Socket& socket) {
  std::size_t needed = record_header_bytes;
  std::size_t available = 0;
  while (available < needed) {
    set_readable_at(socket, needed);
    OUTHAUL_CO_CHECK(co_await socket.wait_readable());
    const auto now = available_bytes(socket);
    if (now == 0) co_return gone();
    // Readable without more: its end, which the handshake will name.
    if (now == available) break;
    available = now;
    needed = needed_bytes(socket);
  }
  set_readable_at(socket, 1);
  co_return Result<void>();
}

// Whoever came last is next: under a flood the honest one is among the new ones.
Task<void> Doorway::await_turn(Silent& silent) {
  Event turn(executor_);
  const Listed<Event> place(waiting_, turn);
  silent.turn = &turn;
  co_await turn.wait();  // when it is cancelled, `silent` goes too
  silent.turn = nullptr;
}

void Doorway::give_turn() {
  if (!waiting_.empty()) waiting_.back()->set();
}

void Doorway::sweep(TimePoint now) {
  for (auto* silent : silent_) {
    if (silent->deadline < now) silent->drop();
  }
  const auto limit = waiting_.empty() ? limits_.handshake : limits_.crowded;
  for (auto* shaking : shaking_) {
    if (shaking->started + limit < now) shaking->over.set();
  }
}

}  // namespace outhaul::http
