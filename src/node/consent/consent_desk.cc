#include "node/consent/consent_desk.h"

#include "base/planted_fault.h"
#include "crypto/digest.h"

namespace outhaul::node {

bool ConsentDesk::asks(const wire::TaskSpec& task) const {
  return policy_.may_ask() && policy_.judge(task).outcome == policy::Outcome::asked;
}

Result<void> ConsentDesk::check_room() const {
  if (book_.questions().size() < ConsentBook::max_open) return {};
  return fail(ErrorCode::node_full, "too many questions wait for the person at the node");
}

Task<Result<Question>> ConsentDesk::make_question(wire::TaskSpec task) const {
  if (!policy_.exists()) co_return fail(ErrorCode::consent_void, "the policy that asks is gone");
  auto verdict = policy_.judge(task);
  OUTHAUL_CO_TRY(binding, co_await policy_.bind(task));
  if (book_.is_denied(binding.digest)) {
    co_return fail(ErrorCode::consent_denied, "the person at the node has said no to exactly this");
  }
  Question question{.task = task.task_id,
                    .owner = task.owner,
                    .asked_at = clock_.wall_now(),
                    .deadline = clock_.wall_now() + policy_.ask_within(),
                    .may_be_for_session = verdict.ask == policy::Ask::once,
                    .why = std::move(verdict.reason),
                    .program = {},
                    .program_sha256 = {},
                    .binding = std::move(binding.digest),
                    .answer = {}};
  // It still goes the way of a question: until it starts, what was approved could change.
  if (question.may_be_for_session && book_.has_session_consent(question.binding))
    question.answer = Answer::session;
  if (task.stdin_stream_id) question.why += "; it also reads input that is not known yet";
  if (!binding.files.empty()) {
    question.program = binding.files.front().path;
    question.program_sha256 = binding.files.front().held.sha256;
  }
  co_return question;
}

Result<void> ConsentDesk::ask(Question question) {
  if (!question.answer)
    log_.info("a task waits for an answer", {{"task", question.task.text()}, {"why", question.why}});
  audit::AuditEntry asked(audit::AuditAction::consent_asked, question.owner.text(), question.task.text());
  asked = std::move(asked).with("why", question.why).with("program", question.program);
  asked = std::move(asked).with("program_sha256", question.program_sha256);
  asked = std::move(asked).with("binding", to_hex(question.binding));
  if (question.answer) asked = std::move(asked).with("answered", std::string(name_of(*question.answer)));
  OUTHAUL_CHECK(book_.append_question(*journal_, std::move(question)));
  audit::note(audit_, log_, std::move(asked));
  changed_.pulse();
  return {};
}

Consent ConsentDesk::consent_of(const TaskId& task) const {
  const auto* question = book_.find(task);
  // Its record was lost with the power: nobody said yes.
  if (question == nullptr) return Consent::denied;
  if (question->answer) return *question->answer == Answer::never ? Consent::denied : Consent::given;
  return clock_.wall_now() < question->deadline ? Consent::open : Consent::timed_out;
}

Task<Result<sandbox::ProcessSpec>> ConsentDesk::hold_approved(wire::TaskSpec task) const {
  const TaskId id = task.task_id;
  OUTHAUL_CO_TRY(held, co_await policy_.hold(std::move(task)));
  const auto* question = book_.find(id);
  const bool is_as_shown = question != nullptr && held.binding.digest == question->binding;
  if (is_as_shown || OUTHAUL_FAULT("consent_not_bound")) co_return std::move(held.spec);
  Error changed(ErrorCode::consent_void, "the program, its files or its directory are not what was approved");
  note_withheld(id, changed);
  co_return fail(std::move(changed));
}

Result<void> ConsentDesk::close(const TaskId& task) {
  if (book_.find(task) == nullptr) return {};
  OUTHAUL_CHECK(book_.append_closed(*journal_, task));
  changed_.pulse();
  return {};
}

void ConsentDesk::note_timeout(const TaskId& task) const {
  note_withheld(task, Error(ErrorCode::consent_timeout, "nobody at the node answered in time"));
}

void ConsentDesk::note_withheld(const TaskId& task, const Error& why) const {
  audit::AuditEntry withheld(audit::AuditAction::consent_withheld, "owner", task.text());
  audit::note(audit_, log_, std::move(withheld).refused_by(why));
}

Result<stream::JournalPosition> ConsentDesk::answer(const TaskId& task, Answer answer, std::string_view by) {
  const auto* question = book_.find(task);
  if (question == nullptr) return fail(ErrorCode::not_found, "no question of this task is open");
  if (consent_of(task) != Consent::open)
    return fail(ErrorCode::conflict, "the question is answered or its time is over");
  if (answer == Answer::session && !question->may_be_for_session) {
    return fail(ErrorCode::invalid, "the policy asks each time: answer once or never");
  }
  OUTHAUL_TRY(position, book_.append_answer(*journal_, task, answer));
  log_.info("a question is answered", {{"task", task.text()}, {"answer", name_of(answer)}, {"by", by}});
  const auto action =
      answer == Answer::never ? audit::AuditAction::consent_withheld : audit::AuditAction::consent_given;
  audit::AuditEntry answered(action, std::string(by), task.text());
  answered = std::move(answered).with("answer", std::string(name_of(answer)));
  audit::note(audit_, log_, std::move(answered).with("binding", to_hex(question->binding)));
  changed_.pulse();
  return position;
}

Result<stream::JournalPosition> ConsentDesk::forget() {
  OUTHAUL_TRY(position, book_.append_forgotten(*journal_));
  log_.info("answers for the session and standing noes are taken back");
  audit::note(audit_, log_, {audit::AuditAction::consent_forgotten, "owner", ""});
  changed_.pulse();
  return position;
}

}  // namespace outhaul::node
