#include "cli/follow.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "stream/record_decoder.h"

namespace outhaul::cli {

Task<Result<void>> copy_records(http::BodyReader& body, OutputSink& sink) {
  stream::RecordDecoder decoder;
  for (;;) {
    OUTHAUL_CO_TRY(piece, co_await body.read_some());
    if (piece.empty()) break;
    decoder.feed(piece);
    for (;;) {
      OUTHAUL_CO_TRY(record, decoder.next());
      if (!record) break;
      OUTHAUL_CO_CHECK(co_await sink.write(*record));
    }
  }
  if (!decoder.is_at_boundary()) co_return fail(ErrorCode::unavailable, "the output ended inside a record");
  co_return Result<void>();
}

Task<Result<void>> follow_stream(Cli& cli, Api& api, std::string stream_id, std::uint64_t from, bool follow,
                                 OutputSink& sink) {
  auto deadline = cli.clock.now() + Api::retry_limit;
  for (int attempt = 0;;) {
    const auto at = std::max(from, sink.next_offset());
    auto target = fmt::format("/api/v1/streams/{}?from={}{}", stream_id, at, follow ? "&follow=true" : "");
    auto response = co_await api.stream(http::Method::get, std::move(target));
    Result<void> copied = response ? co_await copy_records(*response->body, sink)
                                   : Result<void>(std::unexpected(response.error()));
    // A server that ends the answer early is a lost one: only the completing record ends a followed stream.
    if (copied && (!follow || sink.result())) co_return copied;
    if (!copied && !is_passing(copied.error())) co_return copied;
    if (std::max(from, sink.next_offset()) > at) {
      attempt = 0;
      deadline = cli.clock.now() + Api::retry_limit;
    }
    if (cli.clock.now() >= deadline)
      co_return fail(ErrorCode::unavailable, "the hub stayed away for too long");
    if (++attempt == 2) std::fputs("outhaul: the connection to the hub is lost; waiting for it\n", stderr);
    api.reset();
    co_await cli.clock.sleep_for(retry_pause(attempt));
  }
}

}  // namespace outhaul::cli
