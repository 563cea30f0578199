// The way from a node to its hub, a step at a time: the name, the connection, TLS, the answer, the clocks.
#pragma once

#include "base/clock.h"
#include "http/uri.h"
#include "main/doctor_report.h"
#include "node/enrolment/identity.h"

namespace outhaul {

// Adds the checks dns, tcp, tls, hub and clock, up to the first that fails. Takes at most half a minute.
void check_path_to_hub(const http::Url& hub, const node::Identity& identity, DoctorReport& report);

// What meta's `time` says: RFC 3339 in UTC, whole seconds of it. Empty when it is none.
std::optional<WallTime> parse_hub_time(const std::string& text);

}  // namespace outhaul
