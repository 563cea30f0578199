// What `outhaul node token create` tells a person to do on the new machine. Pure.
#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace outhaul::cli {

// `made` is what the hub answered, `hub_url` the address that this machine knows it by. The token stands
// alone: in no command, so that neither a process list nor a shell's history gets it.
std::string enrolment_text(const boost::json::value& made, const std::string& hub_url);

}  // namespace outhaul::cli
