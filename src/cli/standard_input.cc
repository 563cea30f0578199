#include "cli/standard_input.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace outhaul::cli {

StandardInput::StandardInput(const Executor& executor)
    : ready_(executor, STDIN_FILENO, Readiness::For::reading) {}

Task<Result<Bytes>> StandardInput::read_some() {
  Bytes bytes(std::size_t{64} << 10U, '\0');
  for (;;) {
    co_await ready_.wait();
    const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got >= 0) {
      bytes.resize(static_cast<std::size_t>(got));
      co_return bytes;
    }
    if (errno != EINTR && errno != EAGAIN)
      co_return fail(ErrorCode::unavailable, fmt::format("read standard input: {}", std::strerror(errno)));
  }
}

Task<Result<Bytes>> read_all_input(Executor executor, std::size_t limit) {
  StandardInput input(executor);
  Bytes all;
  for (;;) {
    OUTHAUL_CO_TRY(piece, co_await input.read_some());
    if (piece.empty()) break;
    all += piece;
    if (all.size() > limit)
      co_return fail(ErrorCode::too_large, fmt::format("standard input: more than {} bytes", limit));
  }
  if (all.empty()) co_return fail(ErrorCode::invalid, "standard input is empty: there is nothing to send");
  co_return all;
}

}  // namespace outhaul::cli
