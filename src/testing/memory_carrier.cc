#include "testing/memory_carrier.h"

#include <deque>

#include "base/event.h"

namespace outhaul::testing {

namespace {
constexpr std::size_t max_on_the_way = 4;  // messages, a direction
}

// Direction 0 is read by the hub, direction 1 by the node.
struct MemoryLink {
  explicit MemoryLink(const Executor& executor) : changed(executor) {}

  bool may_send(std::size_t to) const {
    return is_broken || is_half_open || on_the_way[to].size() < max_on_the_way;
  }
  void break_link() {
    is_broken = true;
    changed.pulse();
  }

  std::deque<Bytes> on_the_way[2];
  bool is_broken = false;  // cut, or closed by an end
  bool is_half_open = false;
  bool is_held = false;
  std::size_t sent = 0;
  Event changed;
};

namespace {

class MemoryCarrier final : public transport::Carrier {
 public:
  MemoryCarrier(std::shared_ptr<MemoryLink> link, std::size_t reads, transport::CarrierPeer peer)
      : link_(std::move(link)), reads_(reads), peer_(std::move(peer)) {}
  ~MemoryCarrier() override { MemoryCarrier::close(); }

  Task<Result<Bytes>> receive() override {
    const auto link = link_;
    auto& queue = link->on_the_way[reads_];
    for (;;) {
      if (!queue.empty() && !link->is_held && !link->is_half_open) break;
      if (link->is_broken) co_return fail(ErrorCode::unavailable, "the peer closed");
      co_await link->changed.wait_pulse();
    }
    Bytes message = std::move(queue.front());
    queue.pop_front();
    link->changed.pulse();
    co_return message;
  }

  Task<Result<void>> send(Bytes message) override {
    const auto link = link_;
    const auto to = 1 - reads_;
    while (!link->may_send(to)) co_await link->changed.wait_pulse();
    if (link->is_broken) co_return fail(ErrorCode::unavailable, "the peer closed");
    if (!link->is_half_open) link->on_the_way[to].push_back(std::move(message));
    ++link->sent;
    link->changed.pulse();
    co_return Result<void>();
  }

  // What is on the way still arrives, as the kernel would deliver it.
  void close() override { link_->break_link(); }
  const transport::CarrierPeer& peer() const override { return peer_; }

 private:
  std::shared_ptr<MemoryLink> link_;
  std::size_t reads_;
  transport::CarrierPeer peer_;
};

}  // namespace

void MemoryLinkControl::cut() {
  const auto link = link_.lock();
  if (!link) return;
  for (auto& queue : link->on_the_way) queue.clear();
  link->break_link();
}

void MemoryLinkControl::set_half_open(bool is_half_open) {
  const auto link = link_.lock();
  if (!link) return;
  link->is_half_open = is_half_open;
  link->changed.pulse();
}

void MemoryLinkControl::set_held(bool is_held) {
  const auto link = link_.lock();
  if (!link) return;
  link->is_held = is_held;
  link->changed.pulse();
}

std::size_t MemoryLinkControl::messages_sent() const {
  const auto link = link_.lock();
  return link ? link->sent : 0;
}

MemoryCarriers make_memory_carriers(const Executor& executor, std::string node_uri, Bytes hub_spki) {
  auto link = std::make_shared<MemoryLink>(executor);
  transport::CarrierPeer node{.tls_uri = std::move(node_uri), .hub_spki = hub_spki, .address = "memory:node"};
  transport::CarrierPeer hub{.tls_uri = {}, .hub_spki = std::move(hub_spki), .address = "memory:hub"};
  return {.hub = std::make_unique<MemoryCarrier>(link, 0, std::move(node)),
          .node = std::make_unique<MemoryCarrier>(link, 1, std::move(hub)),
          .link = MemoryLinkControl(link)};
}

}  // namespace outhaul::testing
