#include "tests/sim/wire_watch.h"

#include <fmt/format.h>

namespace outhaul::sim {
namespace {

using testing::SimSide;

std::string_view name_of(wire::FrameKind kind) {
  constexpr std::string_view names[] = {"?",      "open",   "accept", "refuse", "data",
                                        "credit", "finish", "reset",  "control"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(const v1::Control& control) {
  switch (control.message_case()) {
    case v1::Control::kChallenge: return "challenge";
    case v1::Control::kHello: return "hello";
    case v1::Control::kWelcome: return "welcome";
    case v1::Control::kGoodbye: return "goodbye";
    case v1::Control::kHeartbeat: return "heartbeat";
    case v1::Control::kCancelTask: return "cancel";
    case v1::Control::kSetDrain: return "drain";
    case v1::Control::kStreamAcks: return "acks";
    case v1::Control::kTasksStarted: return "started";
    case v1::Control::kRenewCertificate: return "renew";
    case v1::Control::kProbe: return "probe";
    case v1::Control::kProbeAnswer: return "probe-answer";
    case v1::Control::kQuestions: return "questions";
    case v1::Control::kAnswerQuestion: return "answer";
    case v1::Control::MESSAGE_NOT_SET: break;
  }
  return "unknown";
}

// What shows that a session is served: the last words of one that was given up do not.
bool is_activity(const v1::Control& control) {
  return control.has_heartbeat() || control.has_cancel_task() || control.has_stream_acks();
}

template <class Message>
std::optional<Message> parse(ByteView payload) {
  Message message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return std::nullopt;
  return message;
}

}  // namespace

void WireWatch::read(const testing::SimMessage& message) {
  const auto& connection = message.connection;
  const Place place{connection.path_name(), connection.port_name(), connection.number()};
  line_ = fmt::format("{} #{}", message.sender == SimSide::node ? "to " + place.port : "to " + place.path,
                      place.connection);
  wire::FrameReader reader(message.bytes);
  while (true) {
    const auto frame = reader.next();
    if (!frame || !*frame) break;
    read_frame(message, place, **frame);
  }
  trace_.say(message.sender == SimSide::node ? place.path : place.port, line_);
}

void WireWatch::read_frame(const testing::SimMessage& message, const Place& place, const wire::Frame& frame) {
  if (frame.kind != wire::FrameKind::control) {
    fmt::format_to(std::back_inserter(line_), " {} {}:{}", name_of(frame.kind), frame.channel,
                   frame.payload.size());
  }
  auto& part = parts_[{place.connection, message.sender, frame.channel}];
  if (frame.kind == wire::FrameKind::control || frame.kind == wire::FrameKind::open) {
    part.append(frame.payload);
    if (frame.more_follows) return;
  }
  const Bytes whole = std::exchange(part, {});
  wire::Frame complete = frame;
  if (frame.kind == wire::FrameKind::open) complete.payload = whole;
  switch (frame.kind) {
    case wire::FrameKind::control: return read_control(place, message.sender, whole);
    case wire::FrameKind::open: return read_open(place, message.sender, complete);
    case wire::FrameKind::accept: return read_accept(place, message.sender, frame);
    case wire::FrameKind::refuse: return read_refuse(place, frame);
    case wire::FrameKind::data: return read_data(place, message.sender, frame);
    default: return;
  }
}

void WireWatch::read_control(const Place& place, SimSide sender, ByteView payload) {
  const auto control = parse<v1::Control>(payload);
  if (!control) return;
  fmt::format_to(std::back_inserter(line_), " {}", name_of(*control));
  if (control->has_heartbeat()) listener_.on_heartbeat(place, sender, control->heartbeat());
  if (sender == SimSide::node) {
    if (control->has_hello()) listener_.on_hello(place, control->hello());
    return;
  }
  if (control->has_goodbye()) fmt::format_to(std::back_inserter(line_), "({})", control->goodbye().code());
  if (is_activity(*control)) listener_.on_hub_activity(place);
  for (const auto& position : control->stream_acks().positions()) {
    fmt::format_to(std::back_inserter(line_), "({} {}{})", position.stream_id(), position.offset(),
                   position.complete() ? "." : "");
    listener_.on_held(place, position);
  }
  if (!control->has_welcome()) return;
  listener_.on_welcome(place, control->welcome());
  for (const auto& position : control->welcome().positions()) listener_.on_held(place, position);
}

void WireWatch::read_open(const Place& place, SimSide sender, const wire::Frame& frame) {
  const auto open = parse<v1::Open>(frame.payload);
  if (!open) return;
  fmt::format_to(std::back_inserter(line_), "({} {})", open->plane(), open->target());
  auto& note = channels_[{place.connection, frame.channel}];
  note = {};
  if (sender == SimSide::hub) listener_.on_hub_activity(place);
  if (open->plane() == "stream" && sender == SimSide::node) {
    note.is_output = true;
    note.stream = StreamId::assume(open->target().substr(open->target().find(':') + 1));
  }
  if (open->plane() != "task") return;
  const auto envelope = wire::parse_envelope(open->envelope().bytes());
  auto spec =
      envelope ? wire::parse_task_spec(envelope->payload) : fail(ErrorCode::task_malformed, "no envelope");
  if (!spec) return;
  note.is_task = true;
  note.task = spec->task_id;
  listener_.on_envelope(place, *spec, open->envelope().bytes());
}

void WireWatch::read_accept(const Place& place, SimSide sender, const wire::Frame& frame) {
  const auto found = channels_.find({place.connection, frame.channel});
  const auto accept = parse<v1::Accept>(frame.payload);
  if (found == channels_.end() || !accept) return;
  if (found->second.is_task && sender == SimSide::node)
    listener_.on_answer(place, found->second.task, std::nullopt);
  // Only the end is a promise: the offset says what to send, not what is safe.
  if (!found->second.is_output || !accept->position().complete()) return;
  auto end = accept->position();
  end.set_offset(0);
  listener_.on_held(place, end);
}

void WireWatch::read_refuse(const Place& place, const wire::Frame& frame) {
  const auto found = channels_.find({place.connection, frame.channel});
  const auto refuse = parse<v1::Refuse>(frame.payload);
  if (found == channels_.end() || !refuse) return;
  fmt::format_to(std::back_inserter(line_), "({})", refuse->code());
  if (found->second.is_task) listener_.on_answer(place, found->second.task, refuse->code());
}

void WireWatch::read_data(const Place& place, SimSide sender, const wire::Frame& frame) {
  const auto found = channels_.find({place.connection, frame.channel});
  if (found == channels_.end() || !found->second.is_output || sender != SimSide::node) return;
  auto& note = found->second;
  note.decoder.feed(frame.payload);
  while (true) {
    const auto record = note.decoder.next();
    if (!record || !*record) return;
    if (!stream::completes_stream((*record)->header().kind)) continue;
    line_ += "(result)";
    listener_.on_result(place, note.stream, (*record)->bytes().view());
  }
}

}  // namespace outhaul::sim
