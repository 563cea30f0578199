#include "http/connection.h"

namespace outhaul::http {

Task<Result<void>> Connection::write_many(std::span<const ByteView> pieces) {
  for (; !pieces.empty(); pieces = pieces.subspan(1)) OUTHAUL_CO_CHECK(co_await write_all(pieces.front()));
  co_return Result<void>();
}

}  // namespace outhaul::http
