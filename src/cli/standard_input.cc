#include "cli/standard_input.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace outhaul::cli {

struct StandardInput::Descriptor {
  explicit Descriptor(const Executor& executor) : stream(executor) {}
  asio::posix::stream_descriptor stream;
};

StandardInput::StandardInput(const Executor& executor) {
  // A duplicate, so that closing it leaves descriptor 0; its mode is shared with other processes and not
  // changed.
  const int copy = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;
  auto descriptor = std::make_unique<Descriptor>(executor);
  boost::system::error_code fault;
  descriptor->stream.assign(copy, fault);
  if (fault) {
    ::close(copy);
  } else {
    descriptor_ = std::move(descriptor);
  }
}

StandardInput::~StandardInput() = default;

Task<Result<Bytes>> StandardInput::read_some() {
  if (descriptor_) {
    boost::system::error_code fault;
    co_await descriptor_->stream.async_wait(asio::posix::stream_descriptor::wait_read,
                                            asio::redirect_error(asio::use_awaitable, fault));
    if (fault == asio::error::operation_aborted) throw boost::system::system_error(fault);
    // Files and /dev/null cannot be waited for; they do not block either.
    if (fault) descriptor_.reset();
  }
  Bytes bytes(std::size_t{64} << 10U, '\0');
  for (;;) {
    const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got >= 0) {
      bytes.resize(static_cast<std::size_t>(got));
      co_return bytes;
    }
    if (errno != EINTR)
      co_return fail(ErrorCode::unavailable, fmt::format("read standard input: {}", std::strerror(errno)));
  }
}

}  // namespace outhaul::cli
