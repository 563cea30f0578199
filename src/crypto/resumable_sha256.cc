// The low-level functions are deprecated in OpenSSL 3, and are its only ones that show their state; they
// use the processor's SHA instructions as the others do.
#undef OPENSSL_NO_DEPRECATED
#undef OPENSSL_API_COMPAT
#define OPENSSL_API_COMPAT 10100
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/resumable_sha256.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

namespace outhaul::crypto {
namespace {

constexpr std::size_t block_bytes = 64;

template <class Int>
void append_big_endian(Bytes& to, Int value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
    to.push_back(static_cast<char>(value >> shift & 0xffU));
  }
}

template <class Int>
Int take_big_endian(ByteView& from) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8U | static_cast<std::uint8_t>(from[i]);
  from.remove_prefix(sizeof value);
  return value;
}

SHA256_CTX to_context(const std::array<std::uint32_t, 8>& words, std::uint64_t length,
                      const std::array<char, 64>& rest) {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::copy(words.begin(), words.end(), context.h);
  const std::uint64_t bits = length * 8;
  context.Nl = static_cast<SHA_LONG>(bits);
  context.Nh = static_cast<SHA_LONG>(bits >> 32U);
  context.num = static_cast<unsigned>(length % block_bytes);
  std::memcpy(context.data, rest.data(), context.num);
  return context;
}

}  // namespace

ResumableSha256::ResumableSha256() {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::copy(std::begin(context.h), std::end(context.h), words_.begin());
}

void ResumableSha256::update(ByteView bytes) {
  SHA256_CTX context = to_context(words_, length_, rest_);
  SHA256_Update(&context, bytes.data(), bytes.size());
  std::copy(std::begin(context.h), std::end(context.h), words_.begin());
  std::memcpy(rest_.data(), context.data, context.num);
  length_ += bytes.size();
}

Bytes ResumableSha256::digest() const {
  SHA256_CTX context = to_context(words_, length_, rest_);
  Bytes digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &context);
  return digest;
}

Bytes ResumableSha256::state() const {
  Bytes state;
  for (const auto word : words_) append_big_endian(state, word);
  append_big_endian(state, length_);
  const auto used = length_ % block_bytes;
  state.append(rest_.data(), used).append(block_bytes - used, '\0');
  return state;
}

Result<ResumableSha256> ResumableSha256::parse_state(ByteView state) {
  if (state.size() != state_bytes) return fail(ErrorCode::invalid, "hash state: length");
  ResumableSha256 hash;
  for (auto& word : hash.words_) word = take_big_endian<std::uint32_t>(state);
  hash.length_ = take_big_endian<std::uint64_t>(state);
  std::copy(state.begin(), state.end(), hash.rest_.begin());
  return hash;
}

}  // namespace outhaul::crypto
