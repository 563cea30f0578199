// WireWatch: reads every message between nodes and hubs as it leaves, makes lines of the trace of them, and
// tells what was said to whom. It believes nothing and checks nothing.
#pragma once

#include <map>
#include <optional>

#include "outhaul/v1/session.pb.h"
#include "stream/record_decoder.h"
#include "testing/sim_connection.h"
#include "tests/sim/sim_trace.h"
#include "wire/frame.h"
#include "wire/task_spec.h"

namespace outhaul::sim {

// Where something was said.
struct Place {
  std::string path;  // the node's name
  std::string port;  // "hub", or who plays it
  std::uint64_t connection = 0;
};

class WireListener {
 public:
  virtual ~WireListener() = default;
  virtual void on_hello(const Place& place, const v1::Hello& hello) = 0;
  virtual void on_welcome(const Place& place, const v1::Welcome& welcome) = 0;
  // A frame of the hub's side that a session which was given up must not send any more.
  virtual void on_hub_activity(const Place& place) = 0;
  // A task, as its envelope says and unverified, on its way to a node.
  virtual void on_envelope(const Place& place, const wire::TaskSpec& spec, const Bytes& envelope) = 0;
  // The node's answer: accepted, or the code of its refusal.
  virtual void on_answer(const Place& place, const TaskId& task, std::optional<std::string> refusal) = 0;
  // The hub's side says that it durably holds so much.
  virtual void on_held(const Place& place, const v1::StreamPosition& position) = 0;
  // A heartbeat of either side.
  virtual void on_heartbeat(const Place& place, testing::SimSide sender, const v1::Heartbeat& heartbeat) = 0;
  // A node sends the record that completes a stream.
  virtual void on_result(const Place& place, const StreamId& stream, ByteView record) = 0;
};

class WireWatch {
 public:
  // Both outlive it.
  WireWatch(SimTrace& trace, WireListener& listener) : trace_(trace), listener_(listener) {}

  void read(const testing::SimMessage& message);

 private:
  struct ChannelNote {
    bool is_task = false;
    bool is_output = false;
    TaskId task;
    StreamId stream;
    stream::RecordDecoder decoder;
  };
  using ChannelKey = std::pair<std::uint64_t, std::uint32_t>;

  void read_frame(const testing::SimMessage& message, const Place& place, const wire::Frame& frame);
  void read_control(const Place& place, testing::SimSide sender, ByteView payload);
  void read_open(const Place& place, testing::SimSide sender, const wire::Frame& frame);
  void read_accept(const Place& place, testing::SimSide sender, const wire::Frame& frame);
  void read_refuse(const Place& place, const wire::Frame& frame);
  void read_data(const Place& place, testing::SimSide sender, const wire::Frame& frame);

  SimTrace& trace_;
  WireListener& listener_;
  std::map<ChannelKey, ChannelNote> channels_;
  // Control and Open that more follows of, by connection, sender and channel.
  std::map<std::tuple<std::uint64_t, testing::SimSide, std::uint32_t>, Bytes> parts_;
  std::string line_;
};

}  // namespace outhaul::sim
