// Statements: the short messages that a node signs with its Ed25519 key outside of envelopes. Both ends
// build the same bytes here. Each has its own type, so that no signature can be shown for another purpose.
#pragma once

#include "base/bytes.h"

namespace outhaul::crypto {

// What Hello signs.
//   challenge_nonce  from this session's Challenge
//   hub_spki         DER of the TLS public key that the node saw (the hub: its own); a man in the
//                    middle has another and gains nothing by forwarding the signature
Bytes hello_statement(ByteView challenge_nonce, ByteView hub_spki);

// What the `proof` of an enrolment signs: the holder of the signing key asks for exactly this
// certificate request under exactly this token.
//   token        the whole text of the enrolment token
//   request_pem  the certificate request as sent
Bytes enrolment_statement(ByteView token, ByteView request_pem);

// What the `proof` of a renewal signs: the node asks for exactly this certificate request in place of the
// certificate that it shows.
//   certificate_der  the TLS client certificate of the connection that carries the request
Bytes renewal_statement(ByteView certificate_der, ByteView request_pem);

// What the `proof` of a leave signs: the node asks to be removed.
//   certificate_der  the TLS client certificate of the connection that carries the request
Bytes leave_statement(ByteView certificate_der);

}  // namespace outhaul::crypto
