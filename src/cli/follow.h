// Following a stream from the hub to a sink, over as many connections as it takes.
#pragma once

#include <string>

#include "cli/api.h"
#include "cli/output.h"

namespace outhaul::cli {

// Reads the records of one answer until its end.
//   errors  unavailable: the connection broke (go on from sink.next_offset()); protocol_violation; the sink's
Task<Result<void>> copy_records(http::BodyReader& body, OutputSink& sink);

// Copies the stream from `from` (or where the sink stands, when that is further). With `follow` it goes on
// until the completing record and outlives a lost hub for Api::retry_limit at a time.
Task<Result<void>> follow_stream(Cli& cli, Api& api, std::string stream_id, std::uint64_t from, bool follow,
                                 OutputSink& sink);

}  // namespace outhaul::cli
