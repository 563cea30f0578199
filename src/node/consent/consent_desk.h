// ConsentDesk: asks the person at the node, takes answers, and says what became of a question. Where the
// answer comes from (the terminal, the hub) is decided by whoever calls.
//   runs on  the node's strand
#pragma once

#include <functional>

#include "audit/audit_log.h"
#include "base/async_clock.h"
#include "base/event.h"
#include "base/log.h"
#include "node/consent/consent_book.h"
#include "node/owner/owner_policy.h"

namespace outhaul::node {

// What a task that asked may do now.
enum class Consent {
  open,   // neither answered nor late
  given,  // it may start, if nothing changed
  denied,
  timed_out,
};

class ConsentDesk {
 public:
  // All outlive the desk.
  struct Ports {
    Executor executor;
    AsyncClock& clock;
    const Log& log;
    audit::AuditLog& audit;
  };
  ConsentDesk(const Ports& ports, ConsentBook& book, const OwnerPolicy& policy)
      : clock_(ports.clock),
        log_(ports.log),
        audit_(ports.audit),
        book_(book),
        policy_(policy),
        changed_(ports.executor) {}
  // Once, before anything is asked.
  void bind(stream::Journal& journal) { journal_ = &journal; }

  // Whether the task must not start without a yes.
  bool asks(const wire::TaskSpec& task) const;
  // Before such a task is accepted. Only about: questions of tasks that were just accepted are still to come.
  //   errors  node_full: too many open questions
  Result<void> check_room() const;
  // The question of an accepted task, with what its answer will be bound to. One that a yes for the session
  // covers comes back without being asked: it is answered already.
  //   errors  consent_denied: a standing no to exactly this. task_policy_refused: a file cannot be
  //           bound. consent_void: there is no policy any more
  Task<Result<Question>> make_question(wire::TaskSpec task) const;
  // As the journal does.
  Result<void> ask(Question question);

  Consent consent_of(const TaskId& task) const;
  // What was approved, ready to start; what happens to its files afterwards changes nothing.
  //   errors  consent_void: something is not as it was shown. task_policy_refused: the policy says no by now
  Task<Result<sandbox::ProcessSpec>> hold_approved(wire::TaskSpec task) const;
  Result<void> close(const TaskId& task);
  // Nobody answered in time: for the audit log.
  void note_timeout(const TaskId& task) const;

  // Takes an answer and gives the position that makes it durable.
  //   by  an account, or "owner"
  //   errors  not_found: no such question. conflict: it is answered or late. invalid: not for the session
  Result<stream::JournalPosition> answer(const TaskId& task, Answer answer, std::string_view by);
  // Takes back every yes for the session and every standing no.
  Result<stream::JournalPosition> forget();

  const ConsentBook& book() const { return book_; }
  // Pulsed when a question came, was answered or closed.
  Event& changed() { return changed_; }

 private:
  void note_withheld(const TaskId& task, const Error& why) const;

  AsyncClock& clock_;
  const Log& log_;
  audit::AuditLog& audit_;
  ConsentBook& book_;
  const OwnerPolicy& policy_;
  stream::Journal* journal_ = nullptr;
  Event changed_;
};

}  // namespace outhaul::node
