#include "node/owner/task_binding.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "node/owner/machine_files.h"
#include "testing/scratch_directory.h"

namespace outhaul::node {
namespace {

class TaskBindingTest : public ::testing::Test {
 protected:
  TaskBindingTest() : root_(std::filesystem::canonical(scratch_.file(""))) {
    for (const auto* name : {"tool", "script.py", "data"}) put(name, std::string("#!/bin/sh\n: ") + name);
  }
  void put(const std::string& name, const std::string& content) {
    std::ofstream(root_ / name) << content;
    std::filesystem::permissions(root_ / name, std::filesystem::perms::owner_all);
  }
  sandbox::ProcessSpec command(std::vector<std::string> argv) const {
    sandbox::ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.directory = root_;
    return spec;
  }
  HeldTask hold(std::vector<std::string> argv) const {
    return *hold_task(command(std::move(argv)), owner_, files_);
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path root_;
  MachineFiles files_;
  AccountId owner_ = AccountId::assume("acc_01hzzzzzzzzzzzzzzzzzzzzzzz");
};

// proves X25
TEST_F(TaskBindingTest, WhenNothingChanges_ThenWhatIsHeldIsWhatWasShown) {
  for (const auto& argv : std::vector<std::vector<std::string>>{
           {"./tool", "data"}, {"sh", "script.py"}, {"/bin/sh", "-c", "./tool && ./data"}, {"nothing"}}) {
    SCOPED_TRACE(argv.front());
    const auto shown = bind_task(command(argv), owner_, files_);
    ASSERT_TRUE(shown.has_value());
    EXPECT_EQ(hold(argv).binding.digest, shown->digest);
  }
}

// proves X25
TEST_F(TaskBindingTest, WhenTheProgramIsNoneOfTheSystem_ThenItIsHeldAndItsDirectoryIs) {
  const auto task = hold({"./tool", "data"});

  EXPECT_NE(task.spec.held.program, nullptr);
  EXPECT_NE(task.spec.held.directory, nullptr);
  EXPECT_TRUE(task.spec.held.arguments.empty());
}

// proves X25
TEST_F(TaskBindingTest, WhenAnInterpreterIsGivenAScript_ThenTheScriptIsHeldAndNoFileThatFollowsIt) {
  const auto task = hold({"sh", "-e", "script.py", "data"});

  EXPECT_EQ(task.spec.held.program, nullptr);
  ASSERT_EQ(task.spec.held.arguments.size(), 1U);
  EXPECT_EQ(task.spec.held.arguments.front().index, 2U);
}

// proves X25
TEST_F(TaskBindingTest, WhenAScriptCannotBeBound_ThenTheTaskIsRefusedAndADirectoryIsNoScript) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(root_ / "tests");

  EXPECT_FALSE(bind_task(command({"sh", "pipe"}), owner_, files_).has_value());
  EXPECT_TRUE(bind_task(command({"sh", "script.py", "tests", "/dev/null"}), owner_, files_).has_value());
}

// proves X25
TEST_F(TaskBindingTest, WhenAnyPartChanges_ThenTheDigestIsAnother) {
  const auto argv = std::vector<std::string>{"sh", "script.py", "data"};
  const auto digest = [&](const sandbox::ProcessSpec& spec) {
    return bind_task(spec, owner_, files_)->digest;
  };
  const auto before = digest(command(argv));
  auto environment = command(argv);
  environment.environment.push_back("A=b");
  auto split = command({"sh", "script.pydata", ""});

  EXPECT_NE(digest(environment), before);
  EXPECT_NE(digest(split), before);
  EXPECT_NE(digest(command({"sh", "script.py", "tool"})), before);
  put("data", "other");
  EXPECT_NE(digest(command(argv)), before);
}

}  // namespace
}  // namespace outhaul::node
