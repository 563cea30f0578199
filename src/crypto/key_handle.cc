#include "crypto/key_handle.h"

#include <openssl/evp.h>

namespace outhaul::crypto {

void FreeKey::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

}  // namespace outhaul::crypto
