// ResumableSha256: a SHA-256 whose state can be written down, so that the hash of a long output survives
// the process that computes it without its bytes being kept.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"

namespace outhaul::crypto {

class ResumableSha256 {
 public:
  static constexpr std::size_t state_bytes = 32 + 8 + 64;

  ResumableSha256();
  void update(ByteView bytes);
  // The 32 raw bytes over everything given so far; more may follow.
  Bytes digest() const;

  // Exactly state_bytes, the same on every machine.
  Bytes state() const;
  // What state() gave. Fails with `invalid` for another length.
  static Result<ResumableSha256> parse_state(ByteView state);

 private:
  std::array<std::uint32_t, 8> words_;
  std::uint64_t length_ = 0;     // bytes given
  std::array<char, 64> rest_{};  // the last length_ % 64 of them
};

}  // namespace outhaul::crypto
