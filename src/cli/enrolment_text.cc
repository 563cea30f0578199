#include "cli/enrolment_text.h"

#include <fmt/format.h>

#include "cli/json_text.h"
#include "cli/terminal.h"
#include "http/uri.h"

namespace outhaul::cli {
namespace {

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

struct Address {
  std::string url;
  std::string note;  // one paragraph; empty: none
};

// Another machine cannot use the address of ours that is for ourselves.
Address address_for_others(const json::value& made, const std::string& hub_url) {
  const auto url = http::parse_url(hub_url);
  if (!url || !is_this_machine(url->host)) return {hub_url, ""};
  const auto other = http::Url{shown(text_at(made, "deployment")), url->port}.text();
  return {
      other,
      fmt::format("This machine knows the hub as {}, which the new machine cannot use: {} stands for the "
                  "address that it can\nreach, by any name (the fingerprint decides). A hub that listens on "
                  "{} only, as that of `outhaul up` does\nwithout --listen, is reached by nobody else.\n\n",
                  hub_url, other, url->host)};
}

}  // namespace

std::string enrolment_text(const json::value& made, const std::string& hub_url) {
  constexpr const char* data = "/var/lib/outhaul/node";
  const auto address = address_for_others(made, hub_url);
  return fmt::format(
      "On the new machine:\n\n"
      "  outhaul-node enroll --hub {} --ca-fingerprint {} --data {} --token -\n\n"
      "It asks for the token. This one is good for one node until {}:\n\n"
      "  {}\n\n"
      "{}"
      "A node runs nothing until its owner allows it. These lines allow tasks with the rights of the node's "
      "own\n"
      "user, for this version has no sandbox, and start it:\n\n"
      "  printf 'version: 1\\nisolation: [trusted]\\n' > {}/node.yaml\n"
      "  outhaul-node run --data {}\n",
      address.url, shown(text_at(made, "ca_fingerprint")), data, shown(text_at(made, "expires_at")),
      shown(text_at(made, "token")), address.note, data, data);
}

}  // namespace outhaul::cli
