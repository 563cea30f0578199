#include "node/enrolment/tls_pair.h"

#include "crypto/data_files.h"

namespace outhaul::node {
namespace {

constexpr const char* enrolled_key_file = "tls.key";
constexpr const char* enrolled_chain_file = "tls.pem";
constexpr const char* renewed_file = "renewed.pem";
constexpr const char* next_key_file = "next.key";
constexpr std::string_view key_begin = "-----BEGIN PRIVATE KEY-----";
constexpr std::size_t max_bundle_bytes =
    crypto::Certificate::max_bundle * 2 * crypto::Certificate::max_der_bytes;

Result<crypto::TlsKey> load_key(const std::filesystem::path& path) {
  OUTHAUL_TRY(pem, crypto::read_private_file(path, crypto::TlsKey::max_pem_bytes));
  return crypto::TlsKey::parse_pem(pem);
}

}  // namespace

Result<TlsPair> make_tls_pair(crypto::TlsKey key, Bytes chain_pem) {
  OUTHAUL_TRY(chain, crypto::Certificate::parse_pem_bundle(chain_pem));
  if (chain.front().spki() != key.spki()) {
    return fail(ErrorCode::certificate_invalid, "the node's certificate is not for its key");
  }
  return TlsPair{std::move(key), std::move(chain_pem), std::move(chain.front())};
}

Result<TlsPair> load_enrolled_pair(const crypto::DataDirectory& directory) {
  OUTHAUL_TRY(key, load_key(directory.file(enrolled_key_file)));
  OUTHAUL_TRY(chain, crypto::read_trusted_file(directory.file(enrolled_chain_file), max_bundle_bytes));
  return make_tls_pair(std::move(key), std::move(chain));
}

Result<TlsPair> load_renewed_pair(const crypto::DataDirectory& directory) {
  OUTHAUL_TRY(text, crypto::read_private_file(directory.file(renewed_file),
                                              max_bundle_bytes + crypto::TlsKey::max_pem_bytes));
  const auto whole = text.reveal_for("split it");
  const auto end_of_chain = whole.find(key_begin);
  if (end_of_chain == whole.npos) {
    return fail(ErrorCode::certificate_invalid, std::string(renewed_file) + ": no private key in it");
  }
  OUTHAUL_TRY(key, crypto::TlsKey::parse_pem(Secret(std::string(whole.substr(end_of_chain)))));
  return make_tls_pair(std::move(key), Bytes(whole.substr(0, end_of_chain)));
}

Result<crypto::TlsKey> prepare_next_key(const crypto::DataDirectory& directory, const Bytes& spki_in_use) {
  const auto path = directory.file(next_key_file);
  auto begun = load_key(path);
  if (begun && begun->spki() != spki_in_use) return begun;
  // One that cannot be read was never shown to anyone: it is written before it is used.
  OUTHAUL_TRY(fresh, crypto::TlsKey::generate());
  OUTHAUL_CHECK(crypto::write_private_file(path, fresh.pem().reveal_for("key file")));
  return std::move(fresh);
}

Result<void> save_renewed_pair(const crypto::DataDirectory& directory, const TlsPair& pair) {
  auto key_pem = pair.key.pem();
  const Secret whole(pair.chain_pem + std::string(key_pem.reveal_for("key file")));
  OUTHAUL_CHECK(crypto::write_private_file(directory.file(renewed_file), whole.reveal_for("key file")));
  std::error_code ignored;  // what stays is not used again
  std::filesystem::remove(directory.file(next_key_file), ignored);
  return {};
}

Result<void> remove_tls_keys(const crypto::DataDirectory& directory) {
  for (const char* name : {enrolled_key_file, renewed_file, next_key_file}) {
    std::error_code fault;
    std::filesystem::remove(directory.file(name), fault);
    if (fault) return fail(ErrorCode::unavailable, directory.file(name).string() + ": " + fault.message());
  }
  return {};
}

}  // namespace outhaul::node
