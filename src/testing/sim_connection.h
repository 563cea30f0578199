// SimConnection: one connection of SimNetwork, and the two carriers that are its ends.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/sim_world.h"
#include "transport/carrier.h"

namespace outhaul::testing {

class SimConnection;
class SimCarrier;

enum class SimSide { node = 0, hub = 1 };
constexpr SimSide other(SimSide side) { return side == SimSide::node ? SimSide::hub : SimSide::node; }

// One message as it leaves its sender.
struct SimMessage {
  const SimConnection& connection;
  SimSide sender;
  ByteView bytes;
};

// Uniform between the two; each message draws its own, and none overtakes another of its connection. One in
// `spike_one_in` takes up to `spike` longer, with all that follow it.
struct SimDelays {
  Duration least = std::chrono::milliseconds(1);
  Duration most = std::chrono::milliseconds(20);
  Duration spike = std::chrono::seconds(4);
  std::uint64_t spike_one_in = 200;
};

// Nothing passes, neither end is told. When it is over, what waited is delivered late (`hold`, as TCP
// retransmits), or never, nor anything after it on the same connection (`swallow`, as a forgotten NAT entry).
enum class SimSilence { hold, swallow };

// The way between one node and the port that it is routed to; outlives all connections on it.
struct SimPath {
  std::string port = "hub";
  SimDelays delays;
  std::optional<SimSilence> silence;
  bool is_calm = false;  // no spikes
};

class SimConnection : public std::enable_shared_from_this<SimConnection> {
 public:
  // Messages on the way in one direction; send() waits for room, as for a full socket buffer.
  static constexpr std::size_t max_on_the_way = 8;
  using Watcher = std::function<void(const SimMessage&)>;

  struct Ports {
    SimWorld& world;
    Random& random;
    SimPath& path;
    const Watcher& watcher;
  };
  SimConnection(const Ports& ports, std::string path, std::string port, std::uint64_t number);

  const std::string& path_name() const { return path_name_; }
  const std::string& port_name() const { return port_name_; }
  // Unique in its network; in the order of making.
  std::uint64_t number() const { return number_; }

  // To be called once for each side.
  std::unique_ptr<transport::Carrier> make_end(SimSide side, const std::shared_ptr<SimProcess>& process,
                                               transport::CarrierPeer peer);
  // The network in between has lost it: nothing passes any more, and nobody is told.
  bool is_forgotten() const { return is_forgotten_; }
  bool belongs_to(const SimProcess& process, SimSide side) const;

  // Both ends fail, each in its own time; what is on the way is lost.
  void cut();
  // This end fails.
  void reset(SimSide side);
  // Delivers what was held.
  void end_silence();
  // The process of this side no longer acts. `says_goodbye`: its kernel still closes the connection.
  void deaden(SimSide side, bool says_goodbye);

 private:
  friend class SimCarrier;
  struct End {
    std::weak_ptr<SimProcess> process;
    SimCarrier* carrier = nullptr;  // null once it is gone
    std::deque<Bytes> inbox;
    bool is_dead = false;      // its process has died
    bool has_closed = false;   // by itself
    bool is_at_end = false;    // the peer's close, or a reset, has arrived
    TimePoint last_arrival{};  // of what is on the way to it
    std::size_t on_the_way = 0;
  };
  // What travels: a message, or the end of the direction.
  using Parcel = std::optional<Bytes>;

  End& end(SimSide side) { return ends_[static_cast<std::size_t>(side)]; }
  const End& end(SimSide side) const { return ends_[static_cast<std::size_t>(side)]; }
  Duration draw_delay();
  bool may_send(SimSide from) const { return end(other(from)).on_the_way < max_on_the_way; }
  void send(SimSide from, Parcel parcel);
  void arrive(SimSide to, Parcel parcel);
  void wake(SimSide side);
  void close(SimSide side);

  SimWorld& world_;
  Random& random_;
  SimPath& path_;
  const Watcher& watcher_;
  std::string path_name_;
  std::string port_name_;
  std::uint64_t number_;
  End ends_[2];
  bool is_cut_ = false;        // nothing more is delivered
  bool is_forgotten_ = false;  // by the network in between: nothing passes, and nobody is told
  // What waits for the end of a silence, in order.
  std::vector<std::pair<SimSide, Parcel>> held_;
};

}  // namespace outhaul::testing
