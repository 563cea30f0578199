#include "crypto/certificate_authority.h"
#include "crypto/digest.h"
#include "transport/carrier.h"

namespace outhaul::transport {

PeerCertificate describe_peer_certificate(const crypto::Certificate& certificate) {
  return {crypto::sha256_hex(certificate.spki()), certificate.not_before() + crypto::certificate_backdate,
          certificate.not_after()};
}

}  // namespace outhaul::transport
