#include "main/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/remedy.h"
#include "http/json_writer.h"
#include "wire/utf8.h"

namespace outhaul {
namespace {

constexpr std::size_t max_shown_bytes = 1024;

std::string_view word_of(Health health) {
  if (health == Health::ok) return "ok";
  return health == Health::warn ? "warn" : "fail";
}

std::string shown(std::string_view text) { return wire::printable_utf8(text, max_shown_bytes); }

}  // namespace

void DoctorReport::ok(std::string name, std::string what) {
  checks_.push_back({std::move(name), Health::ok, std::move(what), {}});
}

void DoctorReport::warn(std::string name, std::string what, std::string remedy) {
  checks_.push_back({std::move(name), Health::warn, std::move(what), std::move(remedy)});
}

void DoctorReport::fail(std::string name, std::string what, std::string remedy) {
  checks_.push_back({std::move(name), Health::fail, std::move(what), std::move(remedy)});
}

void DoctorReport::fail(std::string name, const Error& error) {
  fail(std::move(name), fmt::format("{} ({})", error.what(), name_of(error.code())),
       std::string(remedy_of(error)));
}

bool DoctorReport::has_failed() const {
  return std::ranges::any_of(checks_, [](const Check& check) { return check.health == Health::fail; });
}

std::string DoctorReport::text() const {
  std::string text;
  for (const auto& check : checks_) {
    text += fmt::format("{:<5}{:<13}{}\n", word_of(check.health), check.name, shown(check.what));
    if (!check.remedy.empty()) text += fmt::format("     {:<13}-> {}\n", "", shown(check.remedy));
  }
  return text;
}

std::string DoctorReport::json() const {
  http::JsonWriter json;
  json.begin_object().field("ok", !has_failed()).key("checks").begin_array();
  for (const auto& check : checks_) {
    json.begin_object().field("name", check.name).field("health", word_of(check.health));
    json.field("what", shown(check.what)).field("remedy", shown(check.remedy)).end_object();
  }
  json.end_array().end_object();
  return std::move(json).take_text();
}

}  // namespace outhaul
