// TlsPair: the TLS key of a node with the certificate for it, as the data directory holds them.
//
//   tls.key, tls.pem  of the enrolment
//   renewed.pem       of the newest renewal: chain, then key, in one file, so that they never part
//   next.key          of a renewal under way: drawn before the hub is asked, so that an answer that was lost
//                     can be asked for again
#pragma once

#include "base/error.h"
#include "crypto/certificate.h"
#include "crypto/data_directory.h"
#include "crypto/tls_key.h"

namespace outhaul::node {

struct TlsPair {
  crypto::TlsKey key;
  Bytes chain_pem;                  // the leaf first
  crypto::Certificate certificate;  // the leaf
};

// Fails with certificate_invalid when the chain's leaf is not for the key.
Result<TlsPair> make_tls_pair(crypto::TlsKey key, Bytes chain_pem);

// not_found: there is none. Those of read_private_file. certificate_invalid, invalid: damaged
Result<TlsPair> load_enrolled_pair(const crypto::DataDirectory& directory);
Result<TlsPair> load_renewed_pair(const crypto::DataDirectory& directory);

// The key of a renewal that was cut off, or a fresh one, written down. Never the key in use, of which a
// leftover file may still hold a copy.
Result<crypto::TlsKey> prepare_next_key(const crypto::DataDirectory& directory, const Bytes& spki_in_use);
// Takes the place of the pair before it whole or not at all. Errors as write_private_file.
Result<void> save_renewed_pair(const crypto::DataDirectory& directory, const TlsPair& pair);
// Of a node that has left: its keys go.
Result<void> remove_tls_keys(const crypto::DataDirectory& directory);

}  // namespace outhaul::node
