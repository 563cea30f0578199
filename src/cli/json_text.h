// Reading what the hub says, for people.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/clock.h"

namespace outhaul::cli {

namespace json = boost::json;

// The text at `key`, empty when it is absent or null; another kind of value as JSON.
std::string text_at(const json::value& object, std::string_view key);
// Null when `object` is none or has no such member.
const json::value* member_of(const json::value& object, std::string_view key);
// A date-time at `key` as "5m", relative to now; "-" when absent.
std::string age_at(const json::value& object, std::string_view key, WallTime now);

// "a=1,b=2" of an object whose values are text; "-" when it is empty.
std::string labels_text(const json::value& labels);

// One thing as aligned lines, a member a line: "exit code   3". What is empty is left out; what is nested
// carries the name of what it is in. Numbers of bytes and nanoseconds get units.
std::string described(const json::value& thing);

}  // namespace outhaul::cli
