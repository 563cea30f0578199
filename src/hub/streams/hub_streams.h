// HubStreams: the hub's stream store with the journal below it, opened and closed together.
//   runs on  the hub's strand
#pragma once

#include <memory>

#include "hub/hub_ports.h"
#include "hub/hub_settings.h"
#include "store/database.h"
#include "stream/journal.h"
#include "stream/stream_store.h"

namespace outhaul::hub {

class HubStreams {
 public:
  HubStreams(const HubPorts& ports, const HubSettings& settings);

  // Reads back every stream, and what `others` keep in the same journal; they outlive it. Cuts are logged,
  // with file and offset. Errors as stream::Journal::open().
  Task<Result<void>> open(std::vector<stream::JournalOwner*> others = {});
  Task<void> close();
  stream::StreamStore& store() { return store_; }
  // After open().
  stream::Journal& journal() { return *journal_; }

 private:
  void report_recovery() const;

  stream::Disk& disk_;
  const Log& log_;
  stream::JournalConfig journal_config_;
  stream::StreamStore store_;
  std::unique_ptr<stream::Journal> journal_;  // null before open()
};

// The payload of the record that completes a task's output: its result. Fails with not_found, conflict (the
// stream is not complete) and as StreamStore::read.
Result<Bytes> completing_payload(stream::StreamStore& store, const StreamId& id);
// The same of a task that may have ended long ago: also from the database.
Task<Result<Bytes>> load_completing_payload(stream::StreamStore& store, store::Database& database,
                                            StreamId id);

}  // namespace outhaul::hub
