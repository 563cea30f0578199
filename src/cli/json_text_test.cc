#include "cli/json_text.h"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

namespace outhaul::cli {
namespace {

TEST(Described, WhenAThingIsShown_ThenThereIsNoJsonLeft) {
  const auto task = json::parse(R"({"id":"task_1","error_code":null,"cwd":"","env_names":[],"selector":{},
      "action":{"argv":["sh","-c","it's a"]},"interactive":false,"labels":{"a":"1","b":"2"},
      "planes":["task","stream"],"load":{"load_average":0.126,"slots":4},"waiting":[{"node_id":"","node_name":"alpha","reason":"it is draining"}],
      "result":{"exit_code":3,"duration_ns":2500000000,"user_cpu_ns":1500000,"stdout_bytes":5242880,
                "stderr_bytes":7,"pipe_holder":"x\u001b[2J"}})");

  EXPECT_EQ(described(task),
            "id                   task_1\n"
            "action argv          sh -c 'it'\\''s a'\n"
            "interactive          no\n"
            "labels               a=1,b=2\n"
            "planes               task, stream\n"
            "load average         0.13\n"
            "load slots           4\n"
            "waiting              alpha it is draining\n"
            "result exit code     3\n"
            "result duration      2.50 s\n"
            "result user cpu      1.5 ms\n"
            "result stdout bytes  5242880 (5.0 MiB)\n"
            "result stderr bytes  7\n"
            "result pipe holder   x?[2J\n");
}

TEST(Described, WhenItIsNoObject_ThenThereIsNothing) {
  for (const auto* value : {"null", "[]", "3", "{}"}) EXPECT_EQ(described(json::parse(value)), "");
}

}  // namespace
}  // namespace outhaul::cli
