// Ids: `<prefix>_` and 26 characters of lower-case Crockford base32 (a ULID: 48 bits of milliseconds,
// 80 random bits). They sort by time, are legal target names, and one kind cannot be given for another.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

namespace outhaul {

// A fresh `<prefix>_<ulid>`.
std::string make_id_text(std::string_view prefix, WallTime now, Random& random);
// `<prefix>_` and the digits of 16 bytes, most significant first: the id of what is named by a digest.
std::string id_text_of(std::string_view prefix, ByteView sixteen_bytes);
bool is_id_text(std::string_view prefix, std::string_view text);

// Kind is a struct with `static constexpr std::string_view prefix` and `noun`.
template <class Kind>
class Id {
 public:
  Id() = default;  // empty: "none"
  static Id make(WallTime now, Random& random) { return Id(make_id_text(Kind::prefix, now, random)); }
  static Id of_digest(ByteView sixteen_bytes) { return Id(id_text_of(Kind::prefix, sixteen_bytes)); }
  // Fails with `invalid`; the message never repeats `text`.
  static Result<Id> parse(std::string_view text) {
    if (!is_id_text(Kind::prefix, text)) {
      return fail(ErrorCode::invalid, std::string(Kind::noun) + " id: not of the form " +
                                          std::string(Kind::prefix) + "_ and 26 base32 characters");
    }
    return Id(std::string(text));
  }
  // For text that our own code wrote (a database row, a verified envelope).
  static Id assume(std::string text) { return Id(std::move(text)); }

  const std::string& text() const { return text_; }
  bool is_empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

 private:
  explicit Id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

#define OUTHAUL_ID(Name, prefix_text, noun_text)            \
  struct Name##Kind {                                       \
    static constexpr std::string_view prefix = prefix_text; \
    static constexpr std::string_view noun = noun_text;     \
  };                                                        \
  using Name = Id<Name##Kind>

OUTHAUL_ID(NodeId, "node", "node");
OUTHAUL_ID(TaskId, "task", "task");
OUTHAUL_ID(StreamId, "str", "stream");
OUTHAUL_ID(AccountId, "acc", "account");
OUTHAUL_ID(ApiTokenId, "tok", "API token");
OUTHAUL_ID(EnrolmentTokenId, "enr", "enrolment token");
OUTHAUL_ID(SessionId, "ses", "session");
OUTHAUL_ID(InstanceId, "ins", "instance");
OUTHAUL_ID(KeyId, "key", "signing key");

}  // namespace outhaul

template <class Kind>
struct std::hash<outhaul::Id<Kind>> {
  std::size_t operator()(const outhaul::Id<Kind>& id) const { return std::hash<std::string>()(id.text()); }
};
