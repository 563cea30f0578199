// Hub: the composition of everything behind the HTTPS interface. The program runs it over real ports, the
// simulation over fakes; both drive it through the same few calls.
//   runs on  one strand, the executor of its ports
//   life     start() first; then attach() and the services; begin_drain() and join() before destruction. A
//   crash in
//            the simulation destroys the frames instead, and the destructor asks nothing of the disk or a
//            peer
#pragma once

#include <memory>

#include "base/error.h"
#include "base/task.h"
#include "hub/hub_keys.h"
#include "hub/hub_ports.h"
#include "hub/hub_settings.h"

namespace outhaul::transport {
class Carrier;
}

namespace outhaul::hub {

class AccountService;
class Admission;
class DepartureService;
class EnrolmentService;
class HubAudit;
class NodeService;
class RenewalService;
class TaskService;
class UserKeyService;
struct StreamSources;

class Hub {
 public:
  // What Goodbye tells nodes when the hub ends: a restart takes about so long.
  static constexpr Duration goodbye_retry_after = std::chrono::seconds(1);

  Hub(const HubPorts& ports, HubSettings settings, HubKeys keys);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Reads back all that is not finished: streams first, then the tasks that own them. Nothing is served
  // before.
  //   errors  store_foreign: the database belongs to another deployment. Those of the store and the journal
  Task<Result<void>> start();

  // A connection on which a node is expected. Returns at once; the session lives until one side ends it.
  void attach(std::unique_ptr<transport::Carrier> carrier);

  // No new tasks and no new sessions. What runs on nodes goes on there, and its results are still taken.
  void begin_drain();
  // Says goodbye to the nodes and ends every coroutine of the hub. After it the hub may be destroyed. To be
  // waited for also after a start() that failed.
  // Completes when this process can serve no longer: its disk failed a sync, and what is promised from now on
  // could be lost. The error says so. A new process reads what is really there.
  Task<Error> wait_failed();
  Task<void> join();

  AccountService& accounts();
  Admission& admission();
  EnrolmentService& enrolment();
  NodeService& nodes();
  RenewalService& renewal();
  DepartureService& departure();
  TaskService& tasks();
  UserKeyService& user_keys();
  HubAudit& audit();
  // For an OutputReader.
  StreamSources stream_sources();
  const HubPorts& ports() const;
  const HubSettings& settings() const;
  const HubKeys& keys() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace outhaul::hub
