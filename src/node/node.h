// Node: the composition of everything that a machine does. The program runs it over real ports, the
// simulation over fakes; both drive it through the same few calls.
//   runs on  one strand, the executor of its ports
//   life     start(), then run() until drain() or a cancellation, then join() before destruction. A crash in
//            the simulation deadens the ports and destroys the frames; the destructor asks nothing of them
#pragma once

#include <memory>

#include "base/async_clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "node/consent/consent_book.h"
#include "node/node_settings.h"
#include "node/tasks/stint.h"
#include "stream/disk.h"

namespace outhaul::sandbox {
class ProcessLauncher;
}

namespace outhaul::node {

class CarrierDialer;
class CertificateRenewal;
class FileWork;
class OwnerLock;
class TaskFiles;

// What the machine's owner decides by, beside node.yaml. All outlive the node; null: there is none.
struct OwnerPorts {
  const OwnerLock* lock = nullptr;
  const TaskFiles* files = nullptr;  // without it no policy is applied
  FileWork* file_work = nullptr;     // null: files are read on the spot
};

// What the node needs of the world. All outlive the node.
struct NodePorts {
  Executor executor;
  AsyncClock& clock;
  Random& random;
  stream::Disk& disk;  // of the journal and the segments
  CarrierDialer& dialer;
  sandbox::ProcessLauncher& launcher;
  const Log& log;
  CertificateRenewal* renewal = nullptr;  // null: the certificates are somebody else's business
  OwnerPorts owner = {};
};

// What becomes of the programs that still run when the drain's limit is over.
enum class DrainEnd {
  leave,  // they go on; the next node process adopts them
  end,    // TERM, grace, KILL; their results reach the disk and, if it can be, the hub
};

class Node {
 public:
  Node(const NodePorts& ports, NodeSelf self, NodeSettings settings, NodeFacts facts);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Reads the journal: from here on questions are listed and answers taken; nothing starts. Instead of
  // start(), not before it.
  //   errors  those of Journal::open
  Task<Result<void>> open();
  // Reads the journal, finds the launcher, adopts what runs, marks what was lost. Needs no hub.
  //   errors  those of Journal::open and ProcessLauncher::attach
  Task<Result<void>> start();
  // Dials and serves until drain() has ended or the caller cancels. Gives an Error only when going on is
  // useless: the journal is poisoned, or the hub has removed this node (node_removed): then what ran here was
  // ended first. A hub that refuses us otherwise is dialled again, ever more slowly.
  Task<Result<void>> run();
  // No new task; completes, and ends run() with a goodbye, when nothing runs and the hub has every result,
  // or after `limit`.
  Task<void> drain(Duration limit, DrainEnd end);
  // Completes when a short-lived node has done its share: drain() should follow.
  Task<void> wait_spent(Stint::Limits limits);
  // Tasks whose end the hub does not hold yet.
  std::size_t undelivered() const;
  // The owner wants this node to leave its hub: for the audit log, before drain().
  void note_leaving();
  // Ends every coroutine of the node.
  Task<void> join();

  // The owner's lock may have changed: when it holds, everything that runs is ended at once and nothing
  // starts.
  void note_lock();
  // Null when the node does not know the task (any more). Valid until the next suspension.
  const wire::TaskSpec* find_task(const TaskId& task) const;
  // Answers are durable when answer() completes; errors as ConsentDesk::answer, and unavailable before
  // open() or start() is done.
  const ConsentBook& consents() const;
  Task<Result<void>> answer(TaskId task, Answer answer, std::string by);
  // Takes back every yes for the session and every standing no.
  Task<Result<void>> forget_answers();

  // For tests and the ready signal.
  bool is_attached() const;  // a session is welcomed
  std::uint32_t running() const;
  bool is_locked() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace outhaul::node
