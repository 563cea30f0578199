#include "crypto/private_key_pem.h"

#include <openssl/pem.h>

#include "base/assert.h"
#include "crypto/openssl_handle.h"

namespace outhaul::crypto {

KeyHandle read_private_key(const Secret& pem, std::size_t max_bytes) {
  const ErrorQueueGuard guard;
  const auto text = pem.reveal_for("parse a private key");
  if (text.empty() || text.size() > max_bytes) return nullptr;
  const auto bio = reading_bio(text);
  return KeyHandle(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_pass_phrase, nullptr));
}

Secret write_private_key(evp_pkey_st& key) {
  const auto bio = writing_bio();
  OUTHAUL_ASSERT(bio &&
                 PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return Secret(written_text(*bio));
}

}  // namespace outhaul::crypto
