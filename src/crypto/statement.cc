#include "crypto/statement.h"

#include "crypto/digest.h"
#include "crypto/envelope.h"

namespace outhaul::crypto {
namespace {

// Digests have one length, so the two parts cannot be divided in another way.
Bytes statement(std::string_view type, ByteView first, ByteView second) {
  return pae(type, sha256(first) + sha256(second));
}

}  // namespace

Bytes hello_statement(ByteView challenge_nonce, ByteView hub_spki) {
  return statement("application/vnd.outhaul.hello.v1", challenge_nonce, hub_spki);
}

Bytes enrolment_statement(ByteView token, ByteView request_pem) {
  return statement("application/vnd.outhaul.enrolment.v1", token, request_pem);
}

Bytes renewal_statement(ByteView certificate_der, ByteView request_pem) {
  return statement("application/vnd.outhaul.renewal.v1", certificate_der, request_pem);
}

Bytes leave_statement(ByteView certificate_der) {
  return pae("application/vnd.outhaul.leave.v1", sha256(certificate_der));
}

}  // namespace outhaul::crypto
