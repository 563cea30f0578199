#include "node/enrolment/renewal_keeper.h"

#include "base/time_text.h"
#include "base/within.h"

namespace outhaul::node {
namespace {

bool is_final(ErrorCode code) {
  return code == ErrorCode::node_removed || code == ErrorCode::certificate_invalid;
}

}  // namespace

RenewalKeeper::RenewalKeeper(const Ports& ports, std::string_view seed)
    : ports_(ports), schedule_(seed, ports_.renewal.life(), now()), hastened_(ports_.executor) {}

Task<void> RenewalKeeper::run() {
  for (;;) {
    const auto wait = schedule_.wait(now());
    if (wait > Duration(0)) {
      co_await within(ports_.clock, ports_.clock.now() + wait, hastened_.wait_pulse());
    } else {
      co_await attempt();
    }
  }
}

Task<void> RenewalKeeper::attempt() {
  const auto life = co_await ports_.renewal.renew();
  if (!life) co_return note_failure(life.error());
  schedule_.note_renewed(*life, now());
  ports_.log.info("certificate renewed", {{"expires_at", time_text(life->expires_at)}});
}

void RenewalKeeper::note_failure(const Error& error) {
  schedule_.note_failed(is_final(error.code()), now());
  ports_.log.failure("certificate not renewed", error);
}

void RenewalKeeper::hasten() {
  schedule_.hasten();
  hastened_.pulse();
}

void RenewalKeeper::note_refusal(const Error& reason) {
  if (reason.code() == ErrorCode::certificate_invalid) hasten();
}

}  // namespace outhaul::node
