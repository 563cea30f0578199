// SHA-256, whole and in pieces.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"

struct evp_md_ctx_st;

namespace outhaul::crypto {

inline constexpr std::size_t sha256_bytes = 32;

// The 32 raw bytes.
Bytes sha256(ByteView bytes);
// The same as 64 lower-case hexadecimal digits.
std::string sha256_hex(ByteView bytes);

// A running SHA-256. digest() does not end it, so that a stream can be asked at any offset. A copy is
// an independent hash that goes on from the same point. A moved-from one may only be assigned or destroyed.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(Sha256&&) noexcept = default;
  ~Sha256() = default;

  void update(ByteView bytes);
  // The 32 raw bytes over everything given so far.
  Bytes digest() const;

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace outhaul::crypto
