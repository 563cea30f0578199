// KeyHandle: owns one parsed OpenSSL key without showing OpenSSL. Parsing costs more than a signature,
// so each key object keeps its handle for life.
#pragma once

#include <memory>

struct evp_pkey_st;

namespace outhaul::crypto {

struct FreeKey {
  void operator()(evp_pkey_st* key) const;
};
using KeyHandle = std::unique_ptr<evp_pkey_st, FreeKey>;

}  // namespace outhaul::crypto
