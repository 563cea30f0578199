// HubKeys: what makes a hub the hub of its deployment. Loaded once at start (hub/data.h); never in a log.
#pragma once

#include "base/ids.h"
#include "crypto/certificate_authority.h"
#include "crypto/signing_key.h"

namespace outhaul::hub {

struct HubKeys {
  crypto::CertificateAuthority authority;
  KeyId signing_key_id;
  crypto::SigningKey signing_key;
};

}  // namespace outhaul::hub
