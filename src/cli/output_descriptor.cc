#include "cli/output_descriptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include <fmt/format.h>

namespace outhaul::cli {
namespace {

// A description of our own of the same pipe or terminal; -1 when it may not be had.
int open_again(int descriptor) {
  const auto path = fmt::format("/proc/self/fd/{}", descriptor);
  return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

OutputDescriptor::OutputDescriptor(const Executor& executor, int descriptor)
    : descriptor_(descriptor), room_(executor, descriptor, Readiness::For::writing) {
  struct stat facts{};
  if (::fstat(descriptor, &facts) != 0) return;
  if (S_ISSOCK(facts.st_mode)) way_ = Way::socket;
  if (!S_ISFIFO(facts.st_mode) && ::isatty(descriptor) == 0) return;
  const int own = open_again(descriptor);
  way_ = own >= 0 ? Way::own : Way::by_pieces;
  if (own >= 0) descriptor_ = own;
}

OutputDescriptor::~OutputDescriptor() {
  if (way_ == Way::own) ::close(descriptor_);
}

long OutputDescriptor::write_some(ByteView bytes) const {
  if (way_ == Way::socket)
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  const auto most = way_ == Way::by_pieces ? std::size_t{PIPE_BUF} : bytes.size();
  return ::write(descriptor_, bytes.data(), std::min(bytes.size(), most));
}

Task<Result<void>> OutputDescriptor::write_all(ByteView bytes) {
  while (!bytes.empty()) {
    if (way_ == Way::by_pieces) co_await room_.wait();
    const auto written = write_some(bytes);
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      co_await room_.wait();
    } else if (errno == EPIPE || errno == ECONNRESET) {
      co_return fail(ErrorCode::cancelled, "nobody reads the output any more");
    } else if (errno != EINTR) {
      // Ours alone, so no code that would be tried again as if the hub were away.
      co_return fail(ErrorCode::internal, fmt::format("write the output: {}", std::strerror(errno)));
    }
  }
  co_return Result<void>();
}

}  // namespace outhaul::cli
