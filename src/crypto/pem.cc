#include "crypto/pem.h"

#include <openssl/pem.h>

#include "base/assert.h"
#include "crypto/openssl_handle.h"

namespace outhaul::crypto {
namespace {

// Far above any certificate, far below what would trouble OpenSSL's int lengths.
constexpr std::size_t max_text_bytes = 1U << 20U;

// What PEM_read_bio_ex allocates for one block.
struct Block {
  ~Block() {
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
};

std::string_view without_leading_space(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? std::string_view() : text.substr(first);
}

// Takes one block off the front of `text`.
Result<Bytes> take_block(std::string_view& text, std::string_view label) {
  const auto invalid = [](const char* rule) { return fail(ErrorCode::certificate_invalid, rule); };
  const ErrorQueueGuard guard;
  const auto begin = "-----BEGIN " + std::string(label) + "-----";
  // OpenSSL skips text before a block; here it would be bytes that nobody has looked at.
  if (!text.starts_with(begin)) return invalid("PEM: does not begin with a block of the expected kind");
  const auto bio = reading_bio(text);
  Block block;
  if (PEM_read_bio_ex(bio.get(), &block.name, &block.header, &block.data, &block.size, 0) != 1) {
    return invalid("PEM: damaged block");
  }
  if (block.name != label || *block.header != '\0')
    return invalid("PEM: block with another label or with headers");
  text.remove_prefix(text.size() - BIO_ctrl_pending(bio.get()));
  return Bytes(reinterpret_cast<const char*>(block.data), static_cast<std::size_t>(block.size));
}

}  // namespace

Result<std::vector<Bytes>> parse_pem_blocks(std::string_view text, std::string_view label,
                                            std::size_t max_blocks) {
  if (text.size() > max_text_bytes) return fail(ErrorCode::certificate_invalid, "PEM: too long");
  std::vector<Bytes> blocks;
  text = without_leading_space(text);
  do {
    if (blocks.size() == max_blocks)
      return fail(ErrorCode::certificate_invalid, "PEM: more blocks than expected");
    OUTHAUL_TRY(der, take_block(text, label));
    blocks.push_back(std::move(der));
    text = without_leading_space(text);
  } while (!text.empty());
  return blocks;
}

std::string write_pem_block(ByteView der, std::string_view label) {
  const auto bio = writing_bio();
  const std::string name(label);
  OUTHAUL_ASSERT(
      bio && PEM_write_bio(bio.get(), name.c_str(), "", as_octets(der), static_cast<long>(der.size())) > 0);
  return written_text(*bio);
}

}  // namespace outhaul::crypto
