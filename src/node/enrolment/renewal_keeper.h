// RenewalKeeper: renews the node's certificate whenever it is time, for as long as the node lives.
//   runs on  the node's strand
#pragma once

#include "base/async_clock.h"
#include "base/event.h"
#include "base/log.h"
#include "node/enrolment/certificate_renewal.h"

namespace outhaul::node {

class RenewalKeeper {
 public:
  // All outlive the keeper.
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    const Log& log;
    CertificateRenewal& renewal;
  };
  RenewalKeeper(const Ports& ports, std::string_view seed);

  // Until it is cancelled.
  Task<void> run();
  // The hub asks for a renewal.
  void hasten();
  // The hub did not take us in. Of some reasons a new certificate is the remedy.
  void note_refusal(const Error& reason);

 private:
  wire::Now now() const { return {ports_.clock.now(), ports_.clock.wall_now()}; }
  Task<void> attempt();
  void note_failure(const Error& error);

  Ports ports_;
  RenewalSchedule schedule_;
  Event hastened_;
};

}  // namespace outhaul::node
