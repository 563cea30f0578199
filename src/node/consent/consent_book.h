// ConsentBook: the questions to the person at the node, their answers, and the standing noes. A JournalOwner:
// every change is appended by the call that makes it and durable once the journal says so. A yes for the
// session lives in memory alone and ends with the process.
//   runs on  the node's strand
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "stream/journal.h"

namespace outhaul::node {

enum class Answer {
  once,     // this task
  session,  // also exactly the same again, until the node restarts
  never,    // not now and, exactly the same, never again
};
std::string_view name_of(Answer answer);
std::optional<Answer> find_answer(std::string_view word);

// One question; a task has at most one.
struct Question {
  TaskId task;
  AccountId owner;  // who asks
  WallTime asked_at;
  WallTime deadline;  // no answer by then is a no
  bool may_be_for_session = false;
  std::string why;             // the policy's reason
  std::string program;         // path without links; empty: there is none
  std::string program_sha256;  // hex
  Bytes binding;               // Binding::digest
  std::optional<Answer> answer;
};

class ConsentBook final : public stream::JournalOwner {
 public:
  static constexpr std::size_t max_open = 64;
  static constexpr std::size_t max_denials = 4096;

  // Each appends and changes; on failure nothing changed.
  Result<stream::JournalPosition> append_question(stream::Journal& journal, Question question);
  // The question is open and unanswered; `session` only where it may be.
  Result<stream::JournalPosition> append_answer(stream::Journal& journal, const TaskId& task, Answer answer);
  // The task has started or ended.
  Result<stream::JournalPosition> append_closed(stream::Journal& journal, const TaskId& task);
  // Takes back every yes for the session and every standing no.
  Result<stream::JournalPosition> append_forgotten(stream::Journal& journal);

  const Question* find(const TaskId& task) const;
  const std::map<TaskId, Question>& questions() const { return questions_; }
  // A yes for the session, or a standing no, to exactly this.
  bool has_session_consent(const Bytes& binding) const { return session_.contains(binding); }
  bool is_denied(const Bytes& binding) const { return denials_.contains(binding); }

  bool owns(stream::JournalType type) const override;
  Result<void> replay(stream::JournalType type, ByteView payload) override;
  Result<void> write_live(stream::Journal& journal) override;

 private:
  void deny(const Bytes& binding);

  std::map<TaskId, Question> questions_;
  std::set<Bytes> session_;
  std::set<Bytes> denials_;
};

}  // namespace outhaul::node
