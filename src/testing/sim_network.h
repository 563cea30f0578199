// SimNetwork: the connections between simulated nodes and whoever listens for them, with the rules of TCP:
// whole messages in order within one connection, none between connections. It delays, cuts, goes silent
// and lets the tail of an old connection arrive after a new one was made.
//
// Each node has one path, by name, to whatever port it is routed to. All delays come from the seed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/carrier_dialer.h"
#include "testing/seeded_random.h"
#include "testing/sim_connection.h"

namespace outhaul::testing {

class SimNetwork {
 public:
  // A connection attempt ends after so long without an answer.
  static constexpr Duration dial_limit = std::chrono::seconds(10);
  using Accept = std::function<void(std::unique_ptr<transport::Carrier>)>;

  // `world` outlives the network and all carriers and dialers.
  SimNetwork(SimWorld& world, std::uint64_t seed);

  // From now on connections to `port` reach `accept`, in the context of `process`, and show `spki`. A dead
  // process refuses them.
  void listen(const std::string& port, const std::shared_ptr<SimProcess>& process, Bytes spki, Accept accept);
  // How `process` reaches the port that `path` leads to. `tls_uri` is the identity of its certificate, of
  // which `certificate` says more at each dial; it may be empty.
  using ShowCertificate = std::function<transport::PeerCertificate()>;
  std::unique_ptr<node::CarrierDialer> make_dialer(const std::shared_ptr<SimProcess>& process,
                                                   std::string path, std::string tls_uri,
                                                   ShowCertificate certificate = {});
  // Where the path leads from now on; at first to "hub". Connections that exist stay.
  void route(const std::string& path, std::string port);

  void set_delays(const std::string& path, SimDelays delays);
  void set_calm(const std::string& path, bool is_calm) { path_of(path).is_calm = is_calm; }
  // Cuts every connection on the path.
  void cut(const std::string& path);
  void set_silent(const std::string& path, SimSilence silence) { path_of(path).silence = silence; }
  void end_silence(const std::string& path);
  bool is_silent(const std::string& path) { return path_of(path).silence.has_value(); }
  // What the path's newest connection sends arrives: one that was swallowed stays deaf after the silence.
  bool does_pass(const std::string& path);

  // The first half of a process's crash: nothing that its carriers do has an effect any more. Killed, its
  // kernel says goodbye for it; without power its peers hear nothing for a while.
  enum class Death { killed, no_power };
  void deaden(const SimProcess& process, Death death);

  // Told of every message when it leaves. In nobody's context: it must not call into a process.
  std::function<void(const SimMessage&)> on_message;

 private:
  friend class SimDialer;
  struct Port {
    std::weak_ptr<SimProcess> process;
    Bytes spki;
    Accept accept;
  };

  SimPath& path_of(const std::string& name);
  // Null when nobody listens there.
  std::unique_ptr<transport::Carrier> connect(const std::shared_ptr<SimProcess>& process,
                                              const std::string& path, transport::CarrierPeer node);
  void hand_over(const std::shared_ptr<SimConnection>& connection, const Port& port,
                 transport::CarrierPeer peer);
  std::vector<std::shared_ptr<SimConnection>> connections_of(const std::string& path);

  SimWorld& world_;
  SeededRandom random_;
  std::map<std::string, Port> ports_;
  std::map<std::string, std::unique_ptr<SimPath>> paths_;
  // In the order in which they were made. The ends own them.
  std::vector<std::weak_ptr<SimConnection>> connections_;
  std::uint64_t made_ = 0;
};

}  // namespace outhaul::testing
