// An Enrolment as JSON: the hub's answer, and our own identity.json.
#pragma once

#include "base/bytes.h"
#include "node/enrolment/identity.h"

namespace outhaul::node {

// The hub's answer (docs/openapi.json, Enrolment). Fields of a newer hub are ignored. Fails with `invalid`.
Result<Enrolment> parse_enrolment_answer(ByteView json);

// identity.json holds what stands in no file of its own; the parser leaves the PEM fields empty.
Bytes format_identity(const Enrolment& enrolment);
// Fails with store_corrupt.
Result<Enrolment> parse_identity(ByteView json);

}  // namespace outhaul::node
