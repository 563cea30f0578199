// Where a secret that a person hands over comes from. The ways are in the order of how well they keep it.
#pragma once

#include <string>

#include "base/error.h"
#include "base/secret.h"

namespace outhaul::crypto {

struct SecretSource {
  std::string what;    // "API token": for the prompt and for messages
  std::string file;    // a private file; empty: none
  std::string option;  // the secret itself, or "-": standard input; empty: not given
};

// The file, else the option, else (only when there is no option) the variable OUTHAUL_TOKEN, else the first
// line of standard input, which a terminal is asked for without showing what is typed.
//   errors  invalid: there is none. not_found, file_permissions_loose: the file
Result<Secret> read_secret(const SecretSource& source);

}  // namespace outhaul::crypto
