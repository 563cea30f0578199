#include "policy/shell_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace outhaul::policy {
namespace {

// "ls -l; cat" for the programs that a line names; the arguments that are known at once follow each.
std::string programs_of(const std::string& line) {
  const std::vector<std::string> argv = {"sh", "-c", line};
  const auto calls = read_command(argv);
  if (!calls) return "unreadable";
  std::string text;
  for (const auto& call : *calls) {
    if (call.program == "sh" && call.arguments == std::vector<std::string>{"-c", line}) continue;
    if (!text.empty()) text += " ";
    text += call.program;
  }
  return text;
}

// proves C7
TEST(ReadCommand, WhenALineNamesProgramsAnyhow_ThenAllAreFound) {
  const std::pair<const char*, const char*> rows[] = {
      {"ls -l", "ls"},
      {"ls | sort|uniq", "ls sort uniq"},
      {"a && b || c; d & e", "a b c d e"},
      {"a\nb\n\nc", "a b c"},
      {"(a; b) | { c; d; }", "a b c d"},
      {"! a", "a"},
      {"'l's", "ls"},
      {"\"su\"\"do\" id", "sudo"},
      {"s\\udo id", "sudo"},
      {"su\\\ndo id", "sudo"},
      {"X=1 Y=$(b) a", "b a"},
      {"X=`b`", "b"},
      {"echo $(a $(b))", "b a"},
      {"echo \"$(a)\" '$(b)'", "a"},
      {"echo \"`a \\`b\\``\"", "b a"},
      {"echo ${X:-$(a)}", "a"},
      {"echo $((1 + $(a)))", "a"},
      {"echo \"${X:-`a`}\"", "a"},
      {"a > out 2>&1 < in >> more 3<> x", "a"},
      {"2>/dev/null a", "a"},
      {"> $(a) b", "a b"},
      {"a <<E\n$(b)\nE\nc", "a b c"},
      {"a <<'E'\n$(b)\nE\nc", "a c"},
      {"a <<-E\n\tb\n\tE\nc", "a c"},
      {"a <<E; b\n$(c)\nE", "a b c"},
      {"cat <<A <<B\n1\nA\n$(x)\nB", "cat x"},
      {"if a; then b; elif c; then d; else e; fi", "a b c d e"},
      {"while a; do b; done", "a b"},
      {"until a\ndo b\ndone > f", "a b"},
      {"for x in 1 $(a); do b; done", "a b"},
      {"for x\ndo b; done", "b"},
      {"case $(a) in x) b;; y|z) c;; *) d; esac; e", "a b c d e"},
      {"case a in (x) b ;; esac | c", "b c"},
      {"case a in esac; b", "b"},
      {"case a in x) case b in y) c;; esac;; z) d;; esac", "c d"},
      {"f() { a; }; f", "a f"},
      {"f() (a); f", "a f"},
      {"a # b; c", "a"},
      {"a#b", "a#b"},
      {"echo a; # b", ""},
      {"[ -f x ] && a", "a"},
      {"cd /x; export X=1; set -e; a", "a"},
      {"env -i X=1 -u Y a b", "env a"},
      {"env -C /tmp a", "env a"},
      {"env", "env"},
      {"xargs", "xargs"},
      {"xargs -0 -n 1 a b", "xargs a"},
      {"xargs -I {} a {}", "xargs a"},
      {"xargs env X=1 a", "xargs env a"},
      {"find \"$X\" -name x", "find"},
      {"xargs -i{} a {}", "xargs a"},
      {"find . -name x -exec a {} \\; -exec b {} +", "find a b"},
      {"find . -execdir sh -c 'a' \\;", "find sh a"},
      {"nohup a", "nohup a"},
      {"timeout -k 5 10 a b", "timeout a"},
      {"timeout --signal=KILL 10s a", "timeout a"},
      {"nice -n 5 ionice -c2 -n0 a", "nice ionice a"},
      {"nice -5 a", "nice a"},
      {"stdbuf -oL a", "stdbuf a"},
      {"setsid -w flock /tmp/l a", "setsid flock a"},
      {"time -p a", "time a"},
      {"exec a", "a"},
      {"exec -a x a", "a"},
      {"command -p a", "a"},
      {"command -v a", ""},
      {"eval a '$(b)'", "b a"},
      {"trap 'a; b' EXIT", "a b"},
      {"trap - EXIT", ""},
      {"/bin/sh -c 'a | b'", "/bin/sh a b"},
      {"bash -ec 'a' x y", "bash a"},
      {"sh -e -o errexit -c a", "sh a"},
      {"sh -c -e a", "sh a"},
      {"sh script.sh", "sh"},
      {"sh -c \"sh -c 'sh -c a'\"", "sh sh sh a"},
      {"busybox sh -c a", "busybox sh a"},
      {"nohup sh -c 'sudo id' &", "nohup sh sudo"},
      {"echo '#'; a", "a"},
      {"a && ( b || ! c ) > x", "a b c"},
      {"echo \"$\" '$' $; a", "a"},
      {"echo $1$@$*$#$?$-$$; a", "a"},
      {"if { a; } then b; fi", "a b"},
  };
  for (const auto& [line, programs] : rows) {
    SCOPED_TRACE(line);
    EXPECT_EQ(programs_of(line), programs);
  }
}

// proves C7
TEST(ReadCommand, WhenAProgramIsDecidedAtRunTimeOrShellsDisagree_ThenItCannotBeRead) {
  const char* rows[] = {
      "$X id",
      "`echo sudo` id",
      "$(echo sudo) id",
      "\"$X\"",
      "s${X}o",
      "{sudo,id}",
      "su*",
      "/usr/bin/s[u]do",
      "~/x",
      "'unclosed",
      "\"unclosed",
      "`unclosed",
      "$(unclosed",
      "${unclosed",
      "$((1",
      "(a",
      "a)",
      "a \\",
      "a >",
      "a <<E\nno end",
      "a <<E",
      "a <<$X\n\nE",
      "a <<< b",
      "a <(b)",
      "a >(b)",
      "$'su\\x64o'",
      "a $\"b\"",
      "X=(a b)",
      "f(x) { a; }",
      "a (b)",
      "(a) b",
      "fi sudo",
      "case a in x",
      "case a b",
      "function f { a; }",
      "[[ a ]]",
      "alias l=sudo",
      "select x in a; do b; done",
      "coproc a",
      "eval \"$X\"",
      "eval $X",
      ". ./x",
      "source x",
      "trap \"$X\" EXIT",
      "PATH=/tmp a",
      "export PATH=/tmp",
      "LD_PRELOAD=x a",
      "IFS=x",
      "env PATH=/tmp a",
      "env -S 'a b'",
      "env $X",
      "env --new a",
      "xargs env",
      "xargs sh -c",
      "xargs -I {} sh -c 'a {}'",
      "xargs -I {} {}",
      "xargs -i {}",
      "xargs -X a",
      "find . -exec {} \\;",
      "timeout $X a",
      "nice --weird a",
      "sh -c",
      "sh -c \"$X\"",
      "sh $X",
      "bash --rcfile x -c a",
      "find . -exec sh -c '{}' \\;",
      "export \"$X\"",
      "'' a",
      "echo $((sudo id); (id))",
      "${X:-'}$(sudo)'}",
      "\"${X:-'}\"$(a)\"'}\"",
      "a;; b",
      "esac",
      "time --what a",
      "find $X",
      "find . `a`",
      "xargs -Ia ab",
  };
  for (const auto* line : rows) {
    SCOPED_TRACE(line);
    EXPECT_EQ(programs_of(line), "unreadable");
  }
}

TEST(ReadCommand, WhenALineIsNestedOutOfBounds_ThenItCannotBeReadAndTheStackHolds) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string rows[] = {
      repeated("$(", 30'000),           repeated("(", 60'000),   repeated("`", 10'001),
      repeated("${x:-", 20'000),        repeated("$((", 30'000), repeated("eval ", 20'000) + "a",
      repeated("case x in y) ", 5'000), repeated("a;", 5'000),   repeated("\"$(", 20'000)};
  for (const auto& line : rows) {
    SCOPED_TRACE(line.substr(0, 20));
    EXPECT_EQ(programs_of(line), "unreadable");
  }
}

TEST(ReadCommand, WhenALineCannotBeRead_ThenThePlaceIsNamedAndTheTextIsNot) {
  const std::vector<std::string> argv = {"sh", "-c", "ls; $hunter2 x"};

  const auto calls = read_command(argv);

  ASSERT_FALSE(calls);
  EXPECT_NE(calls.error().what().find("byte 4"), std::string::npos) << calls.error().what();
  EXPECT_EQ(calls.error().what().find("hunter2"), std::string::npos);
}

TEST(ReadCommand, WhenNoShellReadsIt_ThenNothingIsExpanded) {
  const std::vector<std::string> argv = {"printf", "$(sudo)", ";", "rm"};

  const auto calls = read_command(argv);

  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 1U);
  EXPECT_EQ(calls->front().program, "printf");
  EXPECT_EQ(calls->front().arguments, (std::vector<std::string>{"$(sudo)", ";", "rm"}));
}

TEST(ReadCommand, WhenAnArgumentIsAnExpansion_ThenItIsMarkedAsUnknown) {
  const std::vector<std::string> argv = {"sh", "-c", "git clone \"$URL\""};

  const auto calls = read_command(argv);

  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 2U);
  EXPECT_TRUE(calls->back().has_unknown_arguments);
}

}  // namespace
}  // namespace outhaul::policy
