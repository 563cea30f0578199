#include "http/head_parser.h"

#include <gtest/gtest.h>

#include <map>

namespace outhaul::http {
namespace {

std::string get(const std::string& headers) { return "GET /a HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n"; }

TEST(HeadEnd, WhenHeadIsIncomplete_ThenItIsZeroUntilTheBlankLine) {
  const std::string head = get("A: b\r\n");
  for (std::size_t size = 0; size < head.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_EQ(*find_head_end(ByteView(head).substr(0, size), 1024), 0U);
  }
  EXPECT_EQ(*find_head_end(head + "GET /b HTTP/1.1\r\n", 1024), head.size());
}

TEST(HeadEnd, WhenALineEndsInLfAlone_ThenItIsInvalidAtOnce) {
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\n", 1024).error().code(), ErrorCode::invalid);
  EXPECT_EQ(find_head_end("\n", 1024).error().code(), ErrorCode::invalid);
}

TEST(HeadEnd, WhenHeadPassesItsLimit_ThenItIsTooLarge) {
  const std::string filler(1024, 'a');
  EXPECT_EQ(find_head_end("GET /" + filler, 1024).error().code(), ErrorCode::too_large);
  EXPECT_EQ(find_head_end(get("A: " + filler + "\r\n"), 1024).error().code(), ErrorCode::too_large);
}

TEST(RequestHeadParse, WhenRequestIsPlain_ThenItsPartsAreRead) {
  const auto head =
      parse_request_head("GET /a%20b/c?x=1&y=%26 HTTP/1.1\r\nHost: h\r\nX-A:  1 \r\nX-a: 2\r\n\r\n");

  ASSERT_TRUE(head);
  EXPECT_EQ(head->request.method, Method::get);
  EXPECT_EQ(head->request.path, "/a%20b/c");
  EXPECT_EQ(head->request.query.find("y"), "&");
  EXPECT_EQ(head->request.headers.find("x-a"), "1");
  EXPECT_EQ(head->request.headers.count("x-a"), 2U);
  EXPECT_EQ(head->framing.kind, BodyKind::none);
  EXPECT_TRUE(head->keep_alive);
}

TEST(RequestHeadParse, WhenABodyIsAnnounced_ThenItsFramingIsKnown) {
  const auto by_length =
      parse_request_head("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n");
  const auto chunked = parse_request_head(
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n");

  ASSERT_TRUE(by_length);
  EXPECT_EQ(by_length->framing.kind, BodyKind::length);
  EXPECT_EQ(by_length->framing.length, 12U);
  EXPECT_TRUE(by_length->expects_continue);
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->framing.kind, BodyKind::chunked);
  EXPECT_FALSE(chunked->keep_alive);
}

TEST(RequestHeadParse, WhenRequestIsHostile_ThenItIsInvalidAndNotEchoed) {
  const std::map<std::string, std::string> rows = {
      {"length beside encoding", get("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")},
      {"encoding beside length", get("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")},
      {"two lengths", get("Content-Length: 3\r\nContent-Length: 4\r\n")},
      {"two equal lengths", get("Content-Length: 3\r\nContent-Length: 3\r\n")},
      {"length list", get("Content-Length: 3, 3\r\n")},
      {"signed length", get("Content-Length: +3\r\n")},
      {"negative length", get("Content-Length: -1\r\n")},
      {"hexadecimal length", get("Content-Length: 0x3\r\n")},
      {"length out of range", get("Content-Length: 99999999999999999999\r\n")},
      {"empty length", get("Content-Length:\r\n")},
      {"two encodings", get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {"encoding list", get("Transfer-Encoding: gzip, chunked\r\n")},
      {"unknown encoding", get("Transfer-Encoding: xchunked\r\n")},
      {"encoding with a tab", get("Transfer-Encoding:\vchunked\r\n")},
      {"encoding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"folded line", get("A: b\r\n c: hunter2\r\n")},
      {"folded first line", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
      {"space before the colon", get("Content-Length : 3\r\n")},
      {"no colon", get("hunter2\r\n")},
      {"empty name", get(": hunter2\r\n")},
      {"NUL in a value", get(std::string("A: b\0c\r\n", 8))},
      {"CR in a value", get("A: b\rc\r\n")},
      {"control in a value", get("A: \x01\r\n")},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", get("Host: i\r\n")},
      {"two credentials", get("Authorization: Bearer a\r\nauthorization: Bearer hunter2\r\n")},
      {"two equal credentials", get("Authorization: Bearer a\r\nAuthorization: Bearer a\r\n")},
      {"two keys", get("Idempotency-Key: a\r\nIdempotency-Key: b\r\n")},
      {"two types", get("Content-Type: application/json\r\nContent-Type: text/plain\r\n")},
      {"two expectations", get("Expect: 100-continue\r\nExpect: 100-continue\r\n")},
      {"two last events", get("Last-Event-ID: a\r\nLast-Event-ID: b\r\n")},
      {"absolute target", "GET http://h/hunter2 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"authority target", "GET h:443 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"asterisk target", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"fragment", "GET /a#hunter2 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"raw non-ASCII target", "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"bad escape in the query", "GET /a?x=%zz HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"query name twice", "GET /a?x=1&x=2 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n"},
      {"no version", "GET /\r\n\r\n"},
      {"version 0.9", "GET / HTTP/0.9\r\nHost: h\r\n\r\n"},
      {"version 1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n"},
      {"empty first line", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"unknown expectation", get("Expect: hunter2\r\n")},
      {"TLS bytes", "\x16\x03\x01\r\n\r\n"},
  };
  for (const auto& [reason, bytes] : rows) {
    SCOPED_TRACE(reason);

    const auto head = parse_request_head(bytes);

    ASSERT_FALSE(head);
    EXPECT_EQ(head.error().code(), ErrorCode::invalid);
    EXPECT_EQ(head.error().what().find("hunter2"), std::string::npos);
  }
}

TEST(RequestHeadParse, WhenMethodIsUnknown_ThenItIsNotAllowed) {
  EXPECT_EQ(parse_request_head("TRACE / HTTP/1.1\r\nHost: h\r\n\r\n").error().code(),
            ErrorCode::method_not_allowed);
}

TEST(ResponseHeadParse, WhenFramingVaries_ThenTheBodyIsFramedAccordingly) {
  struct Row {
    const char* head;
    Method request;
    BodyKind kind;
    bool keep_alive;
  };
  for (const Row& row : {
           Row{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Method::get, BodyKind::length, true},
           Row{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Method::get, BodyKind::none, true},
           Row{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Method::get, BodyKind::chunked, true},
           Row{"HTTP/1.1 200 OK\r\n\r\n", Method::get, BodyKind::until_close, false},
           Row{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Method::head, BodyKind::none, true},
           Row{"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Method::get, BodyKind::none, true},
           Row{"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", Method::get, BodyKind::none, false},
           Row{"HTTP/1.1 101 Switching Protocols\r\n\r\n", Method::get, BodyKind::none, true},
           Row{"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", Method::get, BodyKind::length, false},
       }) {
    SCOPED_TRACE(row.head);

    const auto head = parse_response_head(row.head, row.request);

    ASSERT_TRUE(head);
    EXPECT_EQ(head->framing.kind, row.kind);
    EXPECT_EQ(head->keep_alive, row.keep_alive);
  }
}

TEST(ResponseHeadParse, WhenServerIsHostile_ThenItIsAViolation) {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                            "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(parse_response_head(bytes, Method::get).error().code(), ErrorCode::protocol_violation);
  }
}

}  // namespace
}  // namespace outhaul::http
