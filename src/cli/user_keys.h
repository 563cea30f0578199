// The person's own signing keys on this machine: one private file each, `keys/NAME.pem` beside the file of
// contexts. They are made here, never shown and never sent.
#pragma once

#include <string>

#include "base/error.h"
#include "base/random.h"
#include "crypto/signing_key.h"

namespace outhaul::cli {

inline constexpr const char* default_key_name = "default";

// Where the key of this name lies. Fails with `invalid` for a name that is none, config_invalid without any
// place.
Result<std::string> user_key_path(const std::string& name);
// Makes one; never replaces.
//   errors  identity_exists: there is one of this name. Those of the file
Result<crypto::SigningKey> create_user_key(const std::string& name, Random& random);
//   errors  not_found, with what to do. file_permissions_loose
Result<crypto::SigningKey> load_user_key(const std::string& name);

}  // namespace outhaul::cli
