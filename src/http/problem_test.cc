#include "http/problem.h"

#include <gtest/gtest.h>

namespace outhaul::http {
namespace {

TEST(Problem, WhenAnErrorIsSent_ThenTheClientGetsItBack) {
  const Error error = Error(ErrorCode::task_replayed, "seen before").with("state", "running");

  const Response response = problem_response(error);
  const Error read = parse_problem(response.status, response.body);

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.headers.find("content-type"), "application/problem+json");
  EXPECT_EQ(response.headers.find("retry-after"), std::nullopt);
  EXPECT_NE(response.body.find(R"("type":"urn:outhaul:error:task_replayed")"), std::string::npos);
  EXPECT_EQ(read.code(), error.code());
  EXPECT_EQ(read.what(), error.what());
  EXPECT_EQ(read.details(), error.details());
}

TEST(Problem, WhenItMayPass_ThenRetryAfterIsSent) {
  const auto plain = problem_response(Error(ErrorCode::exhausted, "later"));
  const auto known = problem_response(Error(ErrorCode::draining, "later").with("retry_after", "30"));
  const auto strange = problem_response(Error(ErrorCode::draining, "later").with("retry_after", "1\r\nX: y"));

  EXPECT_EQ(plain.headers.find("retry-after"), "1");
  EXPECT_EQ(known.headers.find("retry-after"), "30");
  EXPECT_EQ(strange.headers.find("retry-after"), "1");
}

TEST(Problem, WhenTheAnswerIsNoProblemOfOurs_ThenItsStatusDecides) {
  for (const char* body : {"", "<html>hunter2</html>", "{}", R"({"code":"from_the_future","detail":"x"})",
                           R"({"code":1,"detail":"x"})", R"({"code":"invalid"})"}) {
    SCOPED_TRACE(body);

    const Error gateway = parse_problem(502, body);
    const Error refused = parse_problem(418, body);

    EXPECT_EQ(gateway.code(), ErrorCode::unavailable);
    EXPECT_EQ(refused.code(), ErrorCode::invalid);
    EXPECT_EQ(refused.what().find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace outhaul::http
