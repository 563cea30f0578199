// SharedSlice: immutable bytes that several may hold at once, such as the tail of a stream, each of its
// readers and the tunnel. Shared because a reader may still be sending what the tail has already let go.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace outhaul {

class SharedSlice {
 public:
  SharedSlice() = default;
  SharedSlice(std::shared_ptr<const char[]> owner, ByteView view) : owner_(std::move(owner)), view_(view) {}
  static SharedSlice copy(ByteView bytes) {
    auto owner = std::make_shared_for_overwrite<char[]>(bytes.size());
    std::memcpy(owner.get(), bytes.data(), bytes.size());
    const ByteView view(owner.get(), bytes.size());
    return {std::move(owner), view};
  }
  // Keeps the string itself alive; its bytes are not copied.
  static SharedSlice take(Bytes bytes) {
    const auto owner = std::make_shared<const Bytes>(std::move(bytes));
    return {std::shared_ptr<const char[]>(owner, owner->data()), *owner};
  }

  ByteView view() const { return view_; }
  std::size_t size() const { return view_.size(); }
  SharedSlice part(std::size_t from, std::size_t count) const { return {owner_, view_.substr(from, count)}; }

 private:
  std::shared_ptr<const char[]> owner_;
  ByteView view_;
};

}  // namespace outhaul
