#include "crypto/digest.h"

#include "base/assert.h"
#include "crypto/openssl_handle.h"

namespace outhaul::crypto {
namespace {

// Fetched once and never freed: EVP_sha256() would look the algorithm up again for every hash, which costs
// more than hashing a small record.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  OUTHAUL_ASSERT(algorithm != nullptr);
  return algorithm;
}

}  // namespace

Bytes sha256(ByteView bytes) {
  Bytes digest(sha256_bytes, '\0');
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), as_octets(digest), nullptr, sha256_algorithm(), nullptr);
  OUTHAUL_ASSERT(done == 1);
  return digest;
}

std::string sha256_hex(ByteView bytes) { return to_hex(sha256(bytes)); }

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  OUTHAUL_ASSERT(context_ && EVP_DigestInit_ex2(context_.get(), sha256_algorithm(), nullptr) == 1);
}

Sha256::Sha256(const Sha256& other) : context_(EVP_MD_CTX_new()) {
  OUTHAUL_ASSERT(context_ && EVP_MD_CTX_copy_ex(context_.get(), other.context_.get()) == 1);
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) *this = Sha256(other);
  return *this;
}

void Sha256::update(ByteView bytes) {
  OUTHAUL_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Bytes Sha256::digest() const {
  // Finishing ends a context, so a copy is finished and this one goes on.
  const Sha256 ended(*this);
  Bytes digest(sha256_bytes, '\0');
  OUTHAUL_ASSERT(EVP_DigestFinal_ex(ended.context_.get(), as_octets(digest), nullptr) == 1);
  return digest;
}

}  // namespace outhaul::crypto
