#include "testing/memory_connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/event.h"
#include "http/kill_unless_done.h"

namespace outhaul::testing {
namespace {

using http::Connection;

// One direction.
struct Pipe {
  explicit Pipe(const Executor& executor) : changed(executor) {}
  Bytes bytes;
  bool is_ended = false;   // the writer has closed: read what is left, then the end
  bool is_broken = false;  // somebody killed it: everything fails at once
  Event changed;
};

class MemoryConnection final : public Connection {
 public:
  // Pipes are shared by the two ends, which a test may destroy in any order.
  MemoryConnection(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out, MemoryConnectionSettings settings,
                   http::PeerFacts facts)
      : in_(std::move(in)), out_(std::move(out)), settings_(settings), facts_(std::move(facts)) {}
  ~MemoryConnection() override { end(); }

  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    const auto in = in_;
    while (is_open_ && !in->is_broken && in->bytes.empty() && !in->is_ended)
      co_await in->changed.wait_pulse();
    if (in->is_broken || !is_open_) co_return fail(ErrorCode::unavailable, "memory connection: broken");
    const auto count = std::min({into.size(), in->bytes.size(), settings_.max_read_bytes});
    std::memcpy(into.data(), in->bytes.data(), count);
    in->bytes.erase(0, count);
    in->changed.pulse();
    co_return count;
  }

  Task<Result<void>> write_all(ByteView first, ByteView second, ByteView third) override {
    http::KillUnlessDone guard(*this);
    for (const ByteView piece : {first, second, third}) OUTHAUL_CO_CHECK(co_await write(piece));
    guard.done();
    co_return Result<void>();
  }

  void close() override { end(); }
  void kill() override {
    if (!is_open_) return;
    end();
    in_->is_broken = out_->is_broken = true;
    in_->changed.pulse();
    out_->changed.pulse();
  }
  bool is_open() const override { return is_open_; }
  const http::PeerFacts& peer() const override { return facts_; }

 private:
  Task<Result<void>> write(ByteView piece) {
    const auto out = out_;
    while (!piece.empty()) {
      if (!is_open_ || out->is_ended || out->is_broken)
        co_return fail(ErrorCode::unavailable, "memory connection: broken");
      const auto room = settings_.capacity_bytes - out->bytes.size();
      out->bytes.append(piece.substr(0, room));
      piece.remove_prefix(std::min(room, piece.size()));
      out->changed.pulse();
      if (!piece.empty()) co_await out->changed.wait_pulse();
    }
    co_return Result<void>();
  }
  void end() {
    if (!std::exchange(is_open_, false)) return;
    out_->is_ended = true;
    // Nobody reads any more: a write of the peer must not wait for room for ever.
    in_->is_ended = true;
    in_->changed.pulse();
    out_->changed.pulse();
  }

  std::shared_ptr<Pipe> in_;
  std::shared_ptr<Pipe> out_;
  MemoryConnectionSettings settings_;
  http::PeerFacts facts_;
  bool is_open_ = true;
};

}  // namespace

MemoryConnections make_memory_connections(const Executor& executor, MemoryConnectionSettings settings,
                                          http::PeerFacts server_facts) {
  const auto to_server = std::make_shared<Pipe>(executor);
  const auto to_client = std::make_shared<Pipe>(executor);
  http::PeerFacts client_facts;
  client_facts.server_spki_der = server_facts.server_spki_der;
  client_facts.address = server_facts.address = "local";
  MemoryConnections ends;
  ends.server = std::make_unique<MemoryConnection>(to_server, to_client, settings, std::move(server_facts));
  ends.client = std::make_unique<MemoryConnection>(to_client, to_server, settings, std::move(client_facts));
  return ends;
}

}  // namespace outhaul::testing
