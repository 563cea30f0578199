// The PEM form of private keys, shared by the kinds of key. For the .cc files of this folder.
#pragma once

#include "base/secret.h"
#include "crypto/key_handle.h"

namespace outhaul::crypto {

// Any unencrypted private key of at most `max_bytes`; empty for everything else.
KeyHandle read_private_key(const Secret& pem, std::size_t max_bytes);
// Unencrypted PKCS #8.
Secret write_private_key(evp_pkey_st& key);

}  // namespace outhaul::crypto
