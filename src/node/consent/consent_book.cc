#include "node/consent/consent_book.h"

#include "base/assert.h"
#include "crypto/digest.h"
#include "outhaul/v1/consent.pb.h"

namespace outhaul::node {
namespace {

using stream::JournalPosition;
using stream::JournalType;

constexpr JournalType question_type =
    stream::first_owner_type + 40;                                  // ConsentRecord; replaces an earlier one
constexpr JournalType closed_type = stream::first_owner_type + 41;  // task id
constexpr JournalType denial_type = stream::first_owner_type + 42;  // 32 bytes of a binding
constexpr JournalType forgotten_type = stream::first_owner_type + 43;  // nothing

std::unexpected<Error> damaged() {
  return fail(ErrorCode::journal_corrupt, "consent: a record that is not as this program writes it");
}

Bytes encode(const Question& question) {
  v1::ConsentRecord record;
  record.set_task_id(question.task.text());
  record.set_owner(question.owner.text());
  record.set_asked_at_ns(question.asked_at.nanoseconds);
  record.set_deadline_ns(question.deadline.nanoseconds);
  record.set_may_be_for_session(question.may_be_for_session);
  record.set_why(question.why);
  record.set_program(question.program);
  record.set_program_sha256(question.program_sha256);
  record.set_binding(question.binding);
  if (question.answer) record.set_answer(std::string(name_of(*question.answer)));
  return record.SerializeAsString();
}

Result<Question> decode(ByteView payload) {
  v1::ConsentRecord record;
  if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return damaged();
  const auto task = TaskId::parse(record.task_id());
  const auto owner = AccountId::parse(record.owner());
  const bool has_binding = record.binding().size() == crypto::sha256_bytes;
  if (!task || !owner || !has_binding) return damaged();
  if (!record.answer().empty() && !find_answer(record.answer())) return damaged();
  return Question{.task = *task,
                  .owner = *owner,
                  .asked_at = {record.asked_at_ns()},
                  .deadline = {record.deadline_ns()},
                  .may_be_for_session = record.may_be_for_session(),
                  .why = record.why(),
                  .program = record.program(),
                  .program_sha256 = record.program_sha256(),
                  .binding = record.binding(),
                  .answer = find_answer(record.answer())};
}

}  // namespace

std::string_view name_of(Answer answer) {
  switch (answer) {
    case Answer::once: return "once";
    case Answer::session: return "session";
    case Answer::never: return "never";
  }
  return "never";
}

std::optional<Answer> find_answer(std::string_view word) {
  for (const auto answer : {Answer::once, Answer::session, Answer::never}) {
    if (name_of(answer) == word) return answer;
  }
  return std::nullopt;
}

Result<JournalPosition> ConsentBook::append_question(stream::Journal& journal, Question question) {
  OUTHAUL_TRY(position, journal.append(question_type, encode(question)));
  questions_.insert_or_assign(question.task, std::move(question));
  return position;
}

Result<JournalPosition> ConsentBook::append_answer(stream::Journal& journal, const TaskId& task,
                                                   Answer answer) {
  auto answered = questions_.at(task);
  OUTHAUL_ASSERT(!answered.answer && (answer != Answer::session || answered.may_be_for_session));
  answered.answer = answer;
  const Bytes binding = answered.binding;
  OUTHAUL_TRY(position, append_question(journal, std::move(answered)));
  if (answer == Answer::session) session_.insert(binding);
  if (answer != Answer::never) return position;
  OUTHAUL_TRY(denied, journal.append(denial_type, binding));
  deny(binding);
  return denied;
}

Result<JournalPosition> ConsentBook::append_closed(stream::Journal& journal, const TaskId& task) {
  OUTHAUL_TRY(position, journal.append(closed_type, task.text()));
  questions_.erase(task);
  return position;
}

Result<JournalPosition> ConsentBook::append_forgotten(stream::Journal& journal) {
  OUTHAUL_TRY(position, journal.append(forgotten_type, ByteView()));
  denials_.clear();
  session_.clear();
  return position;
}

const Question* ConsentBook::find(const TaskId& task) const {
  const auto found = questions_.find(task);
  return found == questions_.end() ? nullptr : &found->second;
}

// A full list lets the smallest go: it is asked again, which is no yes.
void ConsentBook::deny(const Bytes& binding) {
  denials_.insert(binding);
  if (denials_.size() > max_denials) denials_.erase(denials_.begin());
}

bool ConsentBook::owns(JournalType type) const { return question_type <= type && type <= forgotten_type; }

Result<void> ConsentBook::replay(JournalType type, ByteView payload) {
  if (type == question_type) {
    OUTHAUL_TRY(question, decode(payload));
    questions_.insert_or_assign(question.task, std::move(question));
  } else if (type == closed_type) {
    const auto task = TaskId::parse(payload);
    if (!task) return damaged();
    questions_.erase(*task);
  } else if (type == denial_type) {
    if (payload.size() != crypto::sha256_bytes) return damaged();
    deny(Bytes(payload));
  } else {
    denials_.clear();
  }
  return {};
}

Result<void> ConsentBook::write_live(stream::Journal& journal) {
  for (const auto& binding : denials_) OUTHAUL_CHECK(journal.append(denial_type, binding));
  for (const auto& [task, question] : questions_)
    OUTHAUL_CHECK(journal.append(question_type, encode(question)));
  return {};
}

}  // namespace outhaul::node
