// RecordSender: a stream's records as the body of an answer.
#pragma once

#include "http/request_context.h"
#include "hub/streams/output_reader.h"

namespace outhaul::hub {

inline constexpr std::string_view records_media_type = "application/vnd.outhaul.records";

// The head of an answer that carries records.
http::Response records_head(int status, const StreamId& stream, const TaskId& task);

// Sends the head and then records until the stream's last one, or without `wait` to what is there now. A
// client that leaves ends it; that is no failure. Errors before the head are given back; later ones cut the
// body short.
Task<Result<void>> send_records(http::RequestContext& context, http::Response head, OutputReader reader,
                                OutputReader::Wait wait);

}  // namespace outhaul::hub
