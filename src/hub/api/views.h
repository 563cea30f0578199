// Views: each noun as JSON, in one place. docs/openapi.json has the schemas. No secret passes here but those
// of a thing just made, and those only once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "http/json_writer.h"
#include "http/message.h"
#include "hub/accounts/account_service.h"
#include "hub/nodes/enrolment.h"
#include "hub/nodes/node_registry.h"
#include "hub/tasks/selector.h"

namespace outhaul::hub {

void write_time(http::JsonWriter& json, std::string_view key, WallTime time);
// null when there is none.
void write_time(http::JsonWriter& json, std::string_view key, std::optional<WallTime> time);
void write_text_or_null(http::JsonWriter& json, std::string_view key, const std::string& text);

// {items: […], next_cursor}. `write` writes one item as one value.
template <class Items, class Write>
http::Response page_response(const Items& items, const std::string& next_cursor, Write write) {
  http::JsonWriter json;
  json.begin_object().key("items").begin_array();
  for (const auto& item : items) write(json, item);
  json.end_array();
  write_text_or_null(json, "next_cursor", next_cursor);
  json.end_object();
  return http::json_response(200, std::move(json).take_text());
}
// One item alone.
template <class Item, class Write>
http::Response item_response(int status, const Item& item, Write write) {
  http::JsonWriter json;
  write(json, item);
  return http::json_response(status, std::move(json).take_text());
}

void write_account(http::JsonWriter& json, const store::AccountRow& row);
void write_token(http::JsonWriter& json, const store::ApiTokenRow& row);
void write_new_token(http::JsonWriter& json, const NewApiToken& made);
void write_user_key(http::JsonWriter& json, const store::UserKeyRow& row);
void write_node_token(http::JsonWriter& json, const store::EnrolmentTokenRow& row);
struct NodeTokenFacts {
  const NewNodeToken& made;
  const std::string& deployment;
  std::string ca_fingerprint;
};
// A token that somebody asked to redeem and that needs approval.
void write_waiting_enrolment(http::JsonWriter& json, const store::EnrolmentTokenRow& row);
void write_new_node_token(http::JsonWriter& json, const NodeTokenFacts& facts);
void write_node(http::JsonWriter& json, const NodeRecord& record);
std::string_view name_of(store::Role role);

}  // namespace outhaul::hub
