// Two carriers joined in memory, on one loop, with the rules of a real one: whole messages in order, a
// bounded amount on the way (send() waits), close() seen by both ends. For tests of what runs over carriers.
#pragma once

#include <memory>
#include <utility>

#include "base/task.h"
#include "transport/carrier.h"

namespace outhaul::testing {

struct MemoryLink;

// The link between two ends, in the hand of a test. Of a link whose ends are gone nothing can be asked.
class MemoryLinkControl {
 public:
  explicit MemoryLinkControl(const std::shared_ptr<MemoryLink>& link) : link_(link) {}
  // Both ends fail with `unavailable`; messages on the way are lost.
  void cut();
  // From now on messages vanish without a sign, in both directions; until(false) lets later ones through.
  void set_half_open(bool is_half_open);
  // While held, messages stay on the way.
  void set_held(bool is_held);
  std::size_t messages_sent() const;

 private:
  // The two ends own it: it must not outlive their io_context.
  std::weak_ptr<MemoryLink> link_;
};

struct MemoryCarriers {
  std::unique_ptr<transport::Carrier> hub;
  std::unique_ptr<transport::Carrier> node;
  MemoryLinkControl link;
};

// `node_uri` is the TLS identity that the hub's end reports.
MemoryCarriers make_memory_carriers(const Executor& executor, std::string node_uri = {},
                                    Bytes hub_spki = "hub spki");

}  // namespace outhaul::testing
