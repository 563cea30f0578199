// Link: keeps the node attached to its hub. Dials, shakes hands, serves the session until it ends, waits
// longer after each failure (wire/backoff.h), for ever.
//   runs on  the node's strand
#pragma once

#include <memory>
#include <optional>

#include "node/carrier_dialer.h"
#include "node/link/live_session.h"
#include "node/node_settings.h"
#include "wire/backoff.h"

namespace outhaul::node {

class Link {
 public:
  // All outlive the link.
  struct Ports {
    LiveSession::Ports session;
    CarrierDialer& dialer;
    Random& random;
    const wire::HelloSigner& signer;
    std::function<v1::Hello()> hello;              // facts of this moment, for a new session
    std::function<void(const Error&)> on_refusal;  // the hub did not take us in, or could not be reached
    std::function<void()> on_removed;              // the hub removed this node; it is not dialled again
  };
  Link(Ports ports, std::string_view backoff_seed);
  ~Link();

  // Completes after leave(), when the session has said goodbye, and when the hub has removed this node.
  Task<void> run();
  void leave(Error reason);
  Task<void> close();
  bool is_attached() const { return session_ != nullptr; }
  // Pulsed when a session begins or ends.
  Event& changed() { return changed_; }

  void on_stream(const StreamId& stream);

 private:
  Task<Result<void>> attach();
  void note_audit(audit::AuditEntry entry);
  void audit_refusal(const Error& reason);
  Task<Error> serve();
  void note_end(const Error& reason);
  bool note_removal(const Error& reason);

  Ports ports_;
  wire::Backoff backoff_;
  std::unique_ptr<LiveSession> session_;
  std::optional<Error> leaving_;
  std::optional<ErrorCode> last_refusal_;  // by the hub, since the last session
  Event left_;
  Event changed_;
};

}  // namespace outhaul::node
