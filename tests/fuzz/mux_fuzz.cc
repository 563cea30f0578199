// A hostile peer: any sequence of messages, between what an honest owner does with what arrives. Bounds
// hold whatever comes, and nothing is sent that the frame reader refuses.
#include "wire/mux.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "wire/frame.h"

using namespace outhaul::wire;

namespace {

class Owner {
 public:
  bool feed(outhaul::ByteView message) {
    const bool is_taken = mux_.receive(message).has_value();
    while (auto event = mux_.take_event()) take(*event);
    check_output(mux_.take_output());
    OUTHAUL_ASSERT(mux_.open_channels() <= 2 * limits.max_channels);
    OUTHAUL_ASSERT(mux_.total_window_bytes() <=
                   limits.max_total_window_bytes + 2 * limits.max_channels * min_window_bytes);
    return is_taken;
  }
  void open() {
    if (const auto id = mux_.open({})) mux_.send(*id, "at once");
  }

 private:
  static constexpr MuxLimits limits{
      .max_channels = 8, .max_pending_opens = 4, .max_total_window_bytes = 1 << 20};

  void take(const MuxEvent& event) {
    if (const auto* const opened = std::get_if<ChannelOpened>(&event)) answer(opened->channel);
    if (const auto* const readable = std::get_if<ChannelReadable>(&event)) {
      while (mux_.read(readable->channel)) continue;
    }
    if (const auto* const finished = std::get_if<ChannelFinished>(&event)) mux_.finish(finished->channel);
  }
  void answer(ChannelId channel) {
    if (channel % 8 == 0) return mux_.refuse(channel, {});
    if (channel % 8 == 2) return mux_.reset(channel, outhaul::ErrorCode::cancelled);
    mux_.accept(channel, {});
    mux_.send(channel, "hello");
  }
  static void check_output(outhaul::ByteView message) {
    FrameReader reader(message);
    while (reader.next().value()) continue;
  }

  Mux mux_{Side::node, limits};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Owner owner;
  owner.open();
  // Each message is preceded by its length in one byte; 255 stands for "the rest".
  outhaul::ByteView rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const auto length = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    const auto message = rest.substr(0, length == 255 ? rest.size() : length);
    rest.remove_prefix(message.size());
    if (!owner.feed(message)) break;
    if (length % 16 == 0) owner.open();
  }
  return 0;
}
