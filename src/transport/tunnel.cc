#include "transport/tunnel.h"

#include <charconv>
#include <utility>

#include "transport/tunnel_access.h"
#include "transport/tunnel_core.h"

namespace outhaul::transport {

Tunnel TunnelAccess::make(std::shared_ptr<TunnelCore> core) { return Tunnel(std::move(core)); }

Tunnel::Tunnel(std::shared_ptr<TunnelCore> core) : core_(std::move(core)) {}
Tunnel::Tunnel(Tunnel&&) noexcept = default;
Tunnel::~Tunnel() {
  if (core_) core_->end(Error(ErrorCode::session_lost, "the tunnel was given up"));
}

Task<Error> Tunnel::run(TunnelHandler& handler) {
  const auto core = core_;
  co_return co_await core->run(handler);
}

Result<Channel> Tunnel::open(const wire::ChannelTarget& target, v1::Open open) {
  return core_->open(target, std::move(open));
}

Result<void> Tunnel::send_control(const v1::Control& message) { return core_->send_control(message); }

Task<bool> Tunnel::probe(TimePoint deadline) {
  const auto core = core_;
  co_return co_await core->probe(deadline);
}

void Tunnel::close(Error reason) { core_->close(std::move(reason)); }
const CarrierPeer& Tunnel::peer() const { return core_->peer(); }
std::optional<std::chrono::nanoseconds> Tunnel::hub_offset() const { return core_->hub_offset(); }

std::optional<Duration> retry_after_of(const Error& error) {
  for (const auto& detail : error.details()) {
    if (detail.name != retry_after_detail) continue;
    std::int64_t nanoseconds = 0;
    const auto* const end = detail.value.data() + detail.value.size();
    const auto parsed = std::from_chars(detail.value.data(), end, nanoseconds);
    if (parsed.ec == std::errc() && parsed.ptr == end && nanoseconds >= 0)
      return std::chrono::nanoseconds(nanoseconds);
  }
  return std::nullopt;
}

Error with_retry_after(Error error, Duration wait) {
  return std::move(error).with(std::string(retry_after_detail),
                               std::to_string(std::chrono::nanoseconds(wait).count()));
}

}  // namespace outhaul::transport
