#include "testing/sim_network.h"

#include <algorithm>
#include <utility>

namespace outhaul::testing {

class SimDialer final : public node::CarrierDialer {
 public:
  SimDialer(SimNetwork& network, const std::shared_ptr<SimProcess>& process, std::string path,
            std::string tls_uri, SimNetwork::ShowCertificate certificate)
      : network_(network),
        process_(process),
        path_(std::move(path)),
        tls_uri_(std::move(tls_uri)),
        certificate_(std::move(certificate)) {}

  Task<Result<std::unique_ptr<transport::Carrier>>> dial() override {
    const auto process = process_.lock();
    auto& clock = process->clock();
    const auto& delays = network_.path_of(path_).delays;
    co_await clock.sleep_for(2 * delays.most);
    if (network_.is_silent(path_)) {
      co_await clock.sleep_for(SimNetwork::dial_limit);
      co_return fail(ErrorCode::deadline_exceeded, "dial: no answer");
    }
    transport::CarrierPeer self{.tls_uri = tls_uri_, .hub_spki = {}, .address = {}};
    if (certificate_) self.certificate = certificate_();
    auto carrier = network_.connect(process, path_, std::move(self));
    if (carrier == nullptr) co_return fail(ErrorCode::unavailable, "dial: connection refused");
    co_return std::move(carrier);
  }

 private:
  SimNetwork& network_;
  std::weak_ptr<SimProcess> process_;
  std::string path_;
  std::string tls_uri_;
  SimNetwork::ShowCertificate certificate_;
};

SimNetwork::SimNetwork(SimWorld& world, std::uint64_t seed) : world_(world), random_(seed) {}

void SimNetwork::listen(const std::string& port, const std::shared_ptr<SimProcess>& process, Bytes spki,
                        Accept accept) {
  ports_[port] = {process, std::move(spki), std::move(accept)};
}

std::unique_ptr<node::CarrierDialer> SimNetwork::make_dialer(const std::shared_ptr<SimProcess>& process,
                                                             std::string path, std::string tls_uri,
                                                             ShowCertificate certificate) {
  return std::make_unique<SimDialer>(*this, process, std::move(path), std::move(tls_uri),
                                     std::move(certificate));
}

SimPath& SimNetwork::path_of(const std::string& name) {
  auto& path = paths_[name];
  if (path == nullptr) path = std::make_unique<SimPath>();
  return *path;
}

void SimNetwork::route(const std::string& path, std::string port) { path_of(path).port = std::move(port); }

void SimNetwork::set_delays(const std::string& path, SimDelays delays) { path_of(path).delays = delays; }

std::unique_ptr<transport::Carrier> SimNetwork::connect(const std::shared_ptr<SimProcess>& process,
                                                        const std::string& path_name,
                                                        transport::CarrierPeer node) {
  auto& path = path_of(path_name);
  const auto found = ports_.find(path.port);
  const auto listener = found == ports_.end() ? nullptr : found->second.process.lock();
  if (listener == nullptr || listener->is_dead()) return nullptr;
  const auto number = ++made_;
  const SimConnection::Ports ports{world_, random_, path, on_message};
  const auto connection = std::make_shared<SimConnection>(ports, path_name, path.port, number);
  std::erase_if(connections_, [](const auto& old) { return old.expired(); });
  connections_.push_back(connection);
  const auto& spki = found->second.spki;
  node.hub_spki = spki;
  node.address = path_name + ":" + std::to_string(number);
  hand_over(connection, found->second, std::move(node));
  transport::CarrierPeer hub{.tls_uri = {}, .hub_spki = spki, .address = path.port};
  return connection->make_end(SimSide::node, process, std::move(hub));
}

// The listener's end is made when it gets there: by then the listener may have died.
void SimNetwork::hand_over(const std::shared_ptr<SimConnection>& connection, const Port& port,
                           transport::CarrierPeer peer) {
  auto take = [connection, listener = port.process, accept = port.accept, peer = std::move(peer)] {
    const auto process = listener.lock();
    if (process == nullptr || process->is_dead()) return connection->reset(SimSide::node);
    accept(connection->make_end(SimSide::hub, process, peer));
    process->drain();
  };
  world_.at(world_.now() + path_of(connection->path_name()).delays.least, std::move(take));
}

std::vector<std::shared_ptr<SimConnection>> SimNetwork::connections_of(const std::string& path) {
  std::vector<std::shared_ptr<SimConnection>> found;
  for (const auto& weak : connections_) {
    auto connection = weak.lock();
    if (connection && connection->path_name() == path) found.push_back(std::move(connection));
  }
  return found;
}

void SimNetwork::cut(const std::string& path) {
  for (const auto& connection : connections_of(path)) connection->cut();
}

void SimNetwork::end_silence(const std::string& path) {
  path_of(path).silence.reset();
  for (const auto& connection : connections_of(path)) connection->end_silence();
}

bool SimNetwork::does_pass(const std::string& path) {
  const auto connections = connections_of(path);
  return !is_silent(path) && !connections.empty() && !connections.back()->is_forgotten();
}

void SimNetwork::deaden(const SimProcess& process, Death death) {
  for (const auto& weak : std::vector(connections_)) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    for (const auto side : {SimSide::node, SimSide::hub}) {
      if (!connection->belongs_to(process, side)) continue;
      connection->deaden(side, death == Death::killed);
      if (death == Death::killed) continue;
      // Its machine comes up and knows nothing of the connection.
      const auto later = std::chrono::seconds(1 + random_.below(60));
      world_.at(world_.now() + later, [connection, side] { connection->reset(other(side)); });
    }
  }
}

}  // namespace outhaul::testing
