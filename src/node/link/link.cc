#include "node/link/link.h"

#include "base/within.h"

namespace outhaul::node {

Link::Link(Ports ports, std::string_view backoff_seed)
    : ports_(std::move(ports)),
      backoff_(backoff_seed),
      left_(ports_.session.executor),
      changed_(ports_.session.executor) {}

Link::~Link() = default;

Task<void> Link::run() {
  auto& clock = ports_.session.clock;
  while (!leaving_) {
    std::optional<Duration> retry_after;
    if (const auto attached = co_await attach(); attached) {
      const TimePoint began = clock.now();
      const Error reason = co_await serve();
      backoff_.note_session(clock.now() - began);
      retry_after = transport::retry_after_of(reason);
      note_end(reason);
      if (note_removal(reason)) co_return;
    } else {
      retry_after = transport::retry_after_of(attached.error());
      ports_.session.log.failure("not attached to the hub", attached.error());
      ports_.on_refusal(attached.error());
      audit_refusal(attached.error());
      if (note_removal(attached.error())) co_return;
    }
    if (!leaving_) co_await within(clock, clock.now() + backoff_.next(retry_after), left_.wait());
  }
}

Task<Result<void>> Link::attach() {
  OUTHAUL_CO_TRY(carrier, co_await ports_.dialer.dial());
  wire::NodeSession::Config config;
  config.observed_spki = carrier->peer().hub_spki;
  const transport::TunnelPorts tunnel_ports{ports_.session.clock, ports_.random};
  OUTHAUL_CO_TRY(dialled, co_await transport::dial_tunnel(std::move(carrier), std::move(config),
                                                          ports_.signer, ports_.hello(), tunnel_ports));
  session_ = std::make_unique<LiveSession>(ports_.session, std::move(dialled));
  ports_.session.log.info("attached to the hub");
  last_refusal_.reset();
  note_audit(audit::AuditEntry(audit::AuditAction::session_attached, "hub", ports_.session.hub_log));
  changed_.pulse();
  co_return Result<void>();
}

void Link::note_audit(audit::AuditEntry entry) {
  audit::note(ports_.session.audit, ports_.session.log, std::move(entry));
}

// A hub that is away is no refusal, and one that says the same again is no news.
void Link::audit_refusal(const Error& reason) {
  if (reason.error_class() == ErrorClass::retry || last_refusal_ == reason.code()) return;
  last_refusal_ = reason.code();
  note_audit(audit::AuditEntry(audit::AuditAction::session_refused, "hub", ports_.session.hub_log)
                 .refused_by(reason));
}

Task<Error> Link::serve() {
  if (leaving_) session_->say_goodbye(*leaving_);
  Error reason = co_await session_->run();
  co_await session_->close();
  session_.reset();
  changed_.pulse();
  co_return reason;
}

void Link::note_end(const Error& reason) {
  note_audit(audit::AuditEntry(audit::AuditAction::session_ended, "hub", ports_.session.hub_log)
                 .with("reason", reason.what()));
  if (!leaving_) return ports_.session.log.failure("session ended", reason);
  ports_.session.log.info("session ended", {{"code", name_of(reason.code())}, {"reason", reason.what()}});
}

// Both ways in which the word comes have proved to be of the hub that this node enrolled with: its TLS
// certificate is of the authority that was pinned then. A hub that merely has no record of the node says
// node_unknown.
bool Link::note_removal(const Error& reason) {
  if (reason.code() != ErrorCode::node_removed) return false;
  ports_.on_removed();
  return true;
}

void Link::leave(Error reason) {
  if (session_) session_->say_goodbye(reason);
  leaving_ = std::move(reason);
  left_.set();
}

// After run() was cancelled: its session still stands.
Task<void> Link::close() {
  if (session_) co_await session_->close();
  session_.reset();
}

void Link::on_stream(const StreamId& stream) {
  if (session_) session_->follow(stream);
}

}  // namespace outhaul::node
