#include "audit/ocsf.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <set>

namespace outhaul::audit {
namespace {

namespace json = boost::json;

AuditEntry sample(AuditAction action) {
  AuditEntry entry = AuditEntry(action, "acc_1", "task_1").with("node", "node_1");
  entry.time = {1'767'225'600'123'456'789};
  return entry;
}

// proves N7
TEST(Ocsf, WhenAnyActionIsExported_ThenItsEventHasAKnownClassAndWhatThatClassDemands) {
  const std::set<std::int64_t> classes = {1007, 1008, 3001, 3002, 3003, 3004, 6002, 6003};
  for (std::size_t i = 0; i <= static_cast<std::size_t>(AuditAction::node_removed); ++i) {
    const auto action = static_cast<AuditAction>(i);
    SCOPED_TRACE(name_of(action));

    const auto event = json::parse(ocsf_event(sample(action), {"node_1", 7})).as_object();

    const auto class_uid = event.at("class_uid").as_int64();
    EXPECT_TRUE(classes.contains(class_uid));
    EXPECT_EQ(event.at("category_uid").as_int64(), class_uid / 1000);
    EXPECT_EQ(event.at("type_uid").as_int64(), class_uid * 100 + event.at("activity_id").as_int64());
    EXPECT_EQ(event.at("time").as_int64(), 1'767'225'600'123);
    EXPECT_EQ(event.at("metadata").at("version").as_string(), "1.3.0");
    EXPECT_EQ(event.at("metadata").at("uid").as_string(), "node_1:7");
    EXPECT_EQ(event.at("status_id").as_int64(), 1);
    const char* demanded = class_uid == 1007   ? "process"
                           : class_uid == 3004 ? "entity"
                           : class_uid == 6002 ? "app"
                           : class_uid == 6003 ? "api"
                           : class_uid == 1008 ? "actor"
                                               : "user";
    EXPECT_TRUE(event.contains(demanded));
  }
}

TEST(Ocsf, WhenAnEntryIsARefusal_ThenStatusAndCodeSayIt) {
  auto entry = sample(AuditAction::task_refused).refused_by(Error(ErrorCode::node_full, "no \"slot\"\n"));

  const auto line = ocsf_event(entry, {"node_1", 7});

  EXPECT_EQ(line.find('\n'), line.npos);
  const auto event = json::parse(line);
  EXPECT_EQ(event.at("status_id").as_int64(), 2);
  EXPECT_EQ(event.at("status_code").as_string(), "node_full");
  EXPECT_EQ(event.at("unmapped").at("reason").as_string(), "no \"slot\"\n");
}

TEST(Ocsf, WhenTheActionIsOneOfANewerVersion_ThenTheEventIsABaseEvent) {
  auto entry = sample(AuditAction::task_ended);
  entry.action = "task.frozen";

  const auto event = json::parse(ocsf_event(entry, {"node_1", 7}));

  EXPECT_EQ(event.at("class_uid").as_int64(), 0);
  EXPECT_EQ(event.at("activity_name").as_string(), "task.frozen");
}

TEST(EntryJson, WhenShown_ThenItHasItsPlaceAndItsTime) {
  const auto object = json::parse(entry_json(sample(AuditAction::task_ended), {"node_1", 7}));

  EXPECT_EQ(object.at("sequence").as_int64(), 7);
  EXPECT_EQ(object.at("time").as_string(), "2026-01-01T00:00:00.123456789Z");
  EXPECT_EQ(object.at("fields").at("node").as_string(), "node_1");
  EXPECT_TRUE(object.at("code").is_null());
}

}  // namespace
}  // namespace outhaul::audit
