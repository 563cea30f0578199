#include "hub/server_certificates.h"

#include "hub/hub_data.h"

namespace outhaul::hub {
namespace {

http::TlsIdentity shown(ServerIdentity identity) {
  return {std::move(identity.chain_pem), std::move(identity.key_pem)};
}

}  // namespace

Result<http::TlsServerContext> ServerCertificates::make(const crypto::CertificateAuthority& authority) {
  issued_at_ = ports_.clock.wall_now();
  http::TlsServerContext::Settings settings;
  OUTHAUL_TRY(people, find_people(authority));
  OUTHAUL_TRY(node, issue_node(authority));
  if (settings_.people) operators_chain_ = people.chain_pem;
  settings.people = std::move(people);
  settings.node = std::move(node);
  settings.node_name = node_side_name(settings_.deployment);
  settings.node_ca_pem = authority.certificate().pem();
  return http::TlsServerContext::make(settings);
}

Result<http::TlsIdentity> ServerCertificates::issue_node(const crypto::CertificateAuthority& authority) {
  OUTHAUL_TRY(issued, issue_node_side(authority, settings_.deployment, issued_at_, ports_.random));
  return shown(std::move(issued));
}

Result<http::TlsIdentity> ServerCertificates::find_people(const crypto::CertificateAuthority& authority) {
  if (settings_.people) return settings_.people();
  auto names = settings_.more_names;
  names.push_back(settings_.deployment);
  OUTHAUL_TRY(issued, issue_people_side(authority, names, issued_at_, ports_.random));
  return shown(std::move(issued));
}

Task<void> ServerCertificates::keep_fresh(http::TlsServerContext& tls,
                                          const crypto::CertificateAuthority& authority) {
  for (;;) {
    refresh(tls, authority);
    co_await ports_.clock.sleep_for(look_interval);
  }
}

void ServerCertificates::refresh(http::TlsServerContext& tls, const crypto::CertificateAuthority& authority) {
  const auto renewed = renew_own(tls, authority);
  if (!renewed) ports_.log.failure("the server certificates are not renewed", renewed.error());
  const auto replaced = renew_operators(tls);
  if (!replaced) ports_.log.failure("the operator's certificate is not read again", replaced.error());
}

Result<void> ServerCertificates::renew_own(http::TlsServerContext& tls,
                                           const crypto::CertificateAuthority& authority) {
  const auto now = ports_.clock.wall_now();
  // A clock that was set back made certificates that begin too late for everybody else.
  const bool is_due = now - issued_at_ >= server_certificate_lifetime * 2 / 3 || now < issued_at_;
  if (!is_due) return {};
  const auto before = std::exchange(issued_at_, now);
  const auto replace = [&]() -> Result<void> {
    OUTHAUL_TRY(node, issue_node(authority));
    OUTHAUL_CHECK(tls.replace_node(node));
    if (settings_.people) return {};
    OUTHAUL_TRY(people, find_people(authority));
    return tls.replace_people(people);
  };
  auto replaced = replace();
  if (!replaced) {
    issued_at_ = before;
    return replaced;
  }
  ports_.log.info("server certificates renewed");
  return {};
}

Result<void> ServerCertificates::renew_operators(http::TlsServerContext& tls) {
  if (!settings_.people) return {};
  OUTHAUL_TRY(people, settings_.people());
  if (people.chain_pem == operators_chain_) return {};
  OUTHAUL_CHECK(tls.replace_people(people));
  operators_chain_ = people.chain_pem;
  ports_.log.info("the operator's certificate was read again");
  return {};
}

}  // namespace outhaul::hub
