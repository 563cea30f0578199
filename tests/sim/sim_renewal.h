// SimRenewal: a node's CertificateRenewal in the simulation. It asks the hub that serves, over a path that
// may be silent, and its answer may be lost; what the node's directory holds of TLS outlives its processes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task_group.h"
#include "crypto/tls_key.h"
#include "node/enrolment/certificate_renewal.h"
#include "transport/carrier.h"

namespace outhaul::hub {
class Hub;
struct RenewalRequest;
}  // namespace outhaul::hub
namespace outhaul::testing {
class SimNetwork;
class SimProcess;
}  // namespace outhaul::testing

namespace outhaul::sim {

class SimIdentity;

// Where nodes find the hub's HTTPS interface. Without a hub nobody listens.
struct RenewalDesk {
  std::weak_ptr<testing::SimProcess> process;
  hub::Hub* hub = nullptr;
  TaskGroup* group = nullptr;
};

// What a data directory holds.
struct SimTlsFiles {
  crypto::Certificate certificate;
  std::string next_key_pem;  // of a renewal under way
};

class SimRenewal final : public node::CertificateRenewal {
 public:
  // All outlive it.
  struct Ports {
    testing::SimNetwork& network;
    RenewalDesk& desk;
    const SimIdentity& identity;
    SimTlsFiles& files;
  };
  SimRenewal(const Ports& ports, const std::shared_ptr<testing::SimProcess>& process, std::string path)
      : ports_(ports), process_(process), path_(std::move(path)) {}

  node::CertificateLife life() const override;
  Task<Result<node::CertificateLife>> renew() override;
  // As a dial shows it.
  transport::PeerCertificate shown() const;

 private:
  Task<Result<Bytes>> exchange(hub::RenewalRequest request);

  Ports ports_;
  std::weak_ptr<testing::SimProcess> process_;
  std::string path_;
};

}  // namespace outhaul::sim
