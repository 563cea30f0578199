#include "hub/api/record_sender.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace outhaul::hub {
namespace {

// Bounds what one slow client holds in memory.
constexpr std::size_t chunk_bytes = 256U << 10U;
// Below this several slices are worth one copy instead of one write each.
constexpr std::size_t small_bytes = 16U << 10U;

Task<Result<void>> write_chunk(http::ResponseWriter& writer, const stream::ReadChunk& chunk) {
  if (chunk.slices.size() > 1 && chunk.bytes <= small_bytes) {
    Bytes joined;
    joined.reserve(chunk.bytes);
    for (const auto& slice : chunk.slices) joined.append(slice.view());
    co_return co_await writer.write(joined);
  }
  std::vector<ByteView> pieces;
  pieces.reserve(chunk.slices.size());
  for (const auto& slice : chunk.slices) pieces.push_back(slice.view());
  co_return co_await writer.write_many(pieces);
}

Task<Result<void>> write_all(http::ResponseWriter& writer, OutputReader& reader, OutputReader::Wait wait,
                             stream::ReadChunk first) {
  auto chunk = std::move(first);
  while (chunk.bytes > 0) {
    OUTHAUL_CO_CHECK(co_await write_chunk(writer, chunk));
    if (reader.is_complete()) break;
    OUTHAUL_CO_TRY(more, co_await reader.next(chunk_bytes, wait));
    chunk = std::move(more);
  }
  co_return co_await writer.finish();
}

Task<Result<void>> follow(http::ResponseWriter& writer, OutputReader& reader, stream::ReadChunk first) {
  if (first.bytes == 0 && !reader.is_complete()) {
    OUTHAUL_CO_TRY(more, co_await reader.next(chunk_bytes, OutputReader::Wait::for_more));
    first = std::move(more);
  }
  co_return co_await write_all(writer, reader, OutputReader::Wait::for_more, std::move(first));
}

}  // namespace

http::Response records_head(int status, const StreamId& stream, const TaskId& task) {
  http::Response head;
  head.status = status;
  head.headers.add("Content-Type", std::string(records_media_type));
  head.headers.add("Cache-Control", "no-store");
  head.headers.add("Outhaul-Stream-Id", stream.text());
  head.headers.add("Outhaul-Task-Id", task.text());
  return head;
}

Task<Result<void>> send_records(http::RequestContext& context, http::Response head, OutputReader reader,
                                OutputReader::Wait wait) {
  using namespace asio::experimental::awaitable_operators;  // NOLINT: the operators are the interface
  OUTHAUL_CO_TRY(first, co_await reader.next(chunk_bytes, OutputReader::Wait::no));
  OUTHAUL_CO_TRY(writer, co_await context.start_response(std::move(head)));
  if (wait == OutputReader::Wait::no) {
    static_cast<void>(co_await write_all(*writer, reader, wait, std::move(first)));
    co_return Result<void>();
  }
  static_cast<void>(co_await (follow(*writer, reader, std::move(first)) || context.client_left()));
  co_return Result<void>();
}

}  // namespace outhaul::hub
