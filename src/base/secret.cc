#include "base/secret.h"

#include <cstdint>
#include <utility>

namespace outhaul {

Secret::Secret(Secret&& other) noexcept : text_(other.text_) { other.wipe(); }

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe();
    text_ = other.text_;
    other.wipe();
  }
  return *this;
}

bool Secret::equals(std::string_view other) const {
  // Every byte is looked at, so that the time tells nothing about where the first difference is.
  if (text_.size() != other.size()) return false;
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (text_[i] ^ other[i]));
  }
  return difference == 0;
}

void Secret::wipe() {
  // volatile keeps the stores, which the optimiser sees as dead.
  volatile char* bytes = text_.data();
  for (std::size_t i = 0; i < text_.capacity(); ++i) bytes[i] = 0;
  text_.clear();
}

}  // namespace outhaul
