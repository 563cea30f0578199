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

}  // namespace outhaul::cli
