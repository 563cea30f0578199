// What StreamStore is made of; for its two source files only.
#pragma once

#include <map>
#include <memory>

#include "base/task_group.h"
#include "stream/disk_reserve.h"
#include "stream/room_meter.h"
#include "stream/stream_log.h"
#include "stream/stream_store.h"

namespace outhaul::stream {

struct ForgottenStream {
  StreamId id;
  Incarnation incarnation;
};

struct StreamStore::Parts {
  Parts(const Executor& executor, Disk& the_disk, const StreamStoreConfig& settings)
      : disk(the_disk),
        config(settings),
        reserve(the_disk, settings.reserve_bytes),
        meter(the_disk, settings.quota_bytes, settings.free_floor_bytes),
        tasks(executor) {}

  Disk& disk;
  StreamStoreConfig config;
  Journal* journal = nullptr;  // set by recover()
  // Shared with coroutines that wait for a sync of a stream, which may be forgotten meanwhile.
  std::map<StreamId, std::shared_ptr<StreamLog>> logs;
  std::map<StreamNumber, StreamLog*> by_number;
  StreamNumber next_number = 1;
  // Forgotten streams whose files may still be there. Until they are surely gone the journal goes on saying
  // that nobody wants them.
  std::map<StreamNumber, ForgottenStream> forgotten;
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  DiskReserve reserve;
  RoomMeter meter;
  TaskGroup tasks;
};

}  // namespace outhaul::stream
