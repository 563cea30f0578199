// Secret: text that must not be seen. Move-only, wiped on destruction, compared in constant time.
// It has no formatter, no JSON and no copy; reveal_for() is the one way in, and greps well.
#pragma once

#include <string>
#include <string_view>

namespace outhaul {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { wipe(); }

  // `purpose` is for the reader of the code: reveal_for("hmac").
  std::string_view reveal_for(std::string_view purpose) const {
    static_cast<void>(purpose);
    return text_;
  }
  bool is_empty() const { return text_.empty(); }
  bool equals(std::string_view other) const;

 private:
  void wipe();
  std::string text_;
};

}  // namespace outhaul
