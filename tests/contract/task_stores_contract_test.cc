// What every adapter's stores of tasks, streams, idempotency keys and the deployment promise.
#include "tests/contract/database_harness.h"

namespace outhaul::store {
namespace {

class TaskStores : public DatabaseContract {
 protected:
  using Step = std::function<Result<void>(TaskStore&, const TaskId&)>;
  Result<void> change(const TaskId& id, const Step& step) {
    return write([&](Transaction& tx) { return step(tx.tasks, id); });
  }
  TaskId add_in_state(TaskState state) {
    auto task = some_task();
    task.state = state;
    return add_task(task);
  }
  std::vector<TaskId> list(const TaskFilter& filter, const PageRequest& page = {}) {
    std::vector<TaskId> ids;
    const auto found = read([&](ReadTransaction& tx) { return tx.tasks.list(filter, page); });
    for (const auto& row : found->rows) ids.push_back(row.id);
    return ids;
  }
};

const NodeId node_one = NodeId::assume("node_1");
const NodeId node_two = NodeId::assume("node_2");

Result<void> dispatch(TaskStore& tasks, const TaskId& id) {
  return tasks.dispatch(id, node_one, "envelope", WallTime{110});
}
Result<void> accept(TaskStore& tasks, const TaskId& id) {
  return tasks.advance(id, TaskState::accepted, WallTime{120});
}
Result<void> start(TaskStore& tasks, const TaskId& id) {
  return tasks.advance(id, TaskState::running, WallTime{130});
}
Result<void> cancel(TaskStore& tasks, const TaskId& id) { return tasks.request_cancel(id, WallTime{140}); }
Result<void> requeue(TaskStore& tasks, const TaskId& id) { return tasks.requeue(id); }
Result<void> finish(TaskStore& tasks, const TaskId& id) {
  return tasks.finish(id, {.state = TaskState::lost,
                           .result = "result",
                           .error_code = "code",
                           .error_message = "why",
                           .finished_at = WallTime{150}});
}

TEST_P(TaskStores, WhenTheRowsComeFromABackup_ThenWhatHadNotEndedIsInDoubtUntilANodeHandsItOver) {
  const auto ended = add_in_state(TaskState::finished);
  const auto queued = add_in_state(TaskState::queued);
  const auto running = add_in_state(TaskState::running);
  const auto dispatched = add_in_state(TaskState::queued);
  ASSERT_TRUE(change(dispatched, dispatch));
  const auto settle = [](TaskStore& tasks, const TaskId& id) {
    return tasks.settle_doubt(id, node_two, "its envelope", WallTime{160});
  };
  EXPECT_EQ(code_of(change(queued, settle)), ErrorCode::conflict);

  EXPECT_EQ(*write([](Transaction& tx) { return tx.tasks.doubt_unfinished(); }), 3U);

  EXPECT_FALSE(load_task(ended).is_in_doubt);
  EXPECT_TRUE(load_task(running).is_in_doubt);
  EXPECT_EQ(load_task(running).state, TaskState::running);
  EXPECT_TRUE(load_task(dispatched).is_in_doubt);
  EXPECT_EQ(load_task(dispatched).state, TaskState::queued);
  EXPECT_TRUE(load_task(dispatched).node.is_empty());
  EXPECT_TRUE(load_task(dispatched).envelope.empty());
  ASSERT_TRUE(change(queued, settle));
  EXPECT_FALSE(load_task(queued).is_in_doubt);
  EXPECT_EQ(load_task(queued).state, TaskState::accepted);
  EXPECT_EQ(load_task(queued).node, node_two);
  EXPECT_EQ(load_task(queued).envelope, "its envelope");
  EXPECT_EQ(code_of(change(queued, settle)), ErrorCode::conflict);
  EXPECT_EQ(code_of(change(ended, settle)), ErrorCode::conflict);
}

TEST_P(TaskStores, WhenATaskGoesThroughItsLife_ThenEveryStepIsKept) {
  auto expected = some_task();
  expected.stdin_stream = next_id<StreamId>();
  expected.traceparent = "00-1-2-01";
  expected.times.queue_deadline = WallTime{999};
  add_task(expected);

  for (const Step& step : {Step(dispatch), Step(accept), Step(start), Step(cancel), Step(finish)}) {
    ASSERT_TRUE(change(expected.id, step));
  }

  expected.node = node_one;
  expected.state = TaskState::lost;
  expected.envelope = "envelope";
  expected.times.dispatched_at = WallTime{110};
  expected.times.accepted_at = WallTime{120};
  expected.times.started_at = WallTime{130};
  expected.times.cancel_requested_at = WallTime{140};
  expected.times.finished_at = WallTime{150};
  expected.result = "result";
  expected.error_code = "code";
  expected.error_message = "why";
  EXPECT_EQ(load_task(expected.id), expected);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.tasks.find_by_stream(expected.stream); }), expected);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.tasks.find_by_stream(expected.stdin_stream); }),
            expected);
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.tasks.find_by_stream(StreamId()); }), std::nullopt);
}

// proves C3
TEST_P(TaskStores, WhenAChangeDoesNotFitTheState_ThenItIsRefusedAndNothingChanges) {
  struct Row {
    TaskState from;
    const char* what;
    Step step;
    std::optional<ErrorCode> code;
  };
  const std::vector<Row> rows = {
      {TaskState::queued, "dispatch", dispatch, std::nullopt},
      {TaskState::dispatched, "dispatch twice", dispatch, ErrorCode::conflict},
      {TaskState::running, "dispatch", dispatch, ErrorCode::conflict},
      {TaskState::lost, "dispatch after the end", dispatch, ErrorCode::conflict},
      {TaskState::dispatched, "requeue", requeue, std::nullopt},
      {TaskState::queued, "requeue", requeue, ErrorCode::conflict},
      {TaskState::accepted, "requeue", requeue, ErrorCode::conflict},
      {TaskState::cancelled, "requeue", requeue, ErrorCode::conflict},
      {TaskState::finished, "accept after the end", accept, ErrorCode::conflict},
      {TaskState::failed, "start after the end", start, ErrorCode::conflict},
      {TaskState::timed_out, "cancel after the end", cancel, ErrorCode::conflict},
      {TaskState::finished, "finish twice", finish, ErrorCode::conflict},
      {TaskState::queued, "finish", finish, std::nullopt},
      {TaskState::queued, "advance to queued",
       [](TaskStore& tasks, const TaskId& id) { return tasks.advance(id, TaskState::queued, {}); },
       ErrorCode::invalid},
      {TaskState::queued, "advance to an end",
       [](TaskStore& tasks, const TaskId& id) { return tasks.advance(id, TaskState::finished, {}); },
       ErrorCode::invalid},
      {TaskState::queued, "finish as running",
       [](TaskStore& tasks, const TaskId& id) {
         return tasks.finish(id, {.state = TaskState::running,
                                  .result = "",
                                  .error_code = "",
                                  .error_message = "",
                                  .finished_at = {}});
       },
       ErrorCode::invalid},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(name_of(row.from)) + ": " + row.what);
    const auto id = add_in_state(row.from);
    const auto before = load_task(id);

    EXPECT_EQ(code_of(change(id, row.step)), row.code);

    if (row.code) EXPECT_EQ(load_task(id), before);
  }
}

TEST_P(TaskStores, WhenATaskIsUnknown_ThenEveryChangeIsNotFound) {
  for (const Step& step :
       {Step(dispatch), Step(accept), Step(start), Step(cancel), Step(requeue), Step(finish)}) {
    EXPECT_EQ(code_of(change(next_id<TaskId>(), step)), ErrorCode::not_found);
  }
}

TEST_P(TaskStores, WhenNewsIsLate_ThenTheStateDoesNotFallAndFirstTimesStand) {
  const auto id = add_in_state(TaskState::dispatched);

  ASSERT_TRUE(change(id, start));
  ASSERT_TRUE(change(id, accept));
  ASSERT_TRUE(change(id, [](TaskStore& tasks, const TaskId& t) {
    return tasks.advance(t, TaskState::running, WallTime{999});
  }));
  ASSERT_TRUE(change(id, cancel));
  ASSERT_TRUE(
      change(id, [](TaskStore& tasks, const TaskId& t) { return tasks.request_cancel(t, WallTime{999}); }));

  const auto task = load_task(id);
  EXPECT_EQ(task.state, TaskState::running);
  EXPECT_EQ(task.times.accepted_at, WallTime{120});
  EXPECT_EQ(task.times.started_at, WallTime{130});
  EXPECT_EQ(task.times.cancel_requested_at, WallTime{140});
}

TEST_P(TaskStores, WhenATaskIsRequeued_ThenNodeAndEnvelopeAreForgotten) {
  const auto expected = some_task();
  add_task(expected);
  ASSERT_TRUE(change(expected.id, dispatch));

  ASSERT_TRUE(change(expected.id, requeue));

  EXPECT_EQ(load_task(expected.id), expected);
}

// proves C3
TEST_P(TaskStores, WhenAnIdOrStreamExists_ThenASecondTaskIsAConflict) {
  auto first = some_task();
  first.stdin_stream = next_id<StreamId>();
  add_task(first);
  auto same_id = some_task();
  same_id.id = first.id;
  auto same_stream = some_task();
  same_stream.stream = first.stream;
  auto same_input = some_task();
  same_input.stdin_stream = first.stdin_stream;

  for (const auto& second : {same_id, same_stream, same_input}) {
    EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.tasks.add(second); })), ErrorCode::conflict);
  }
  add_task(some_task());
  add_task(some_task());
}

TEST_P(TaskStores, WhenTasksAreListed_ThenTheNewestComesFirstWithoutLargeFields) {
  auto older = some_task();
  older.envelope = "envelope";
  older.result = "result";
  add_task(older);
  const auto newer = add_task(some_task());

  const auto page = read([](ReadTransaction& tx) { return tx.tasks.list({}, {}); });

  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 2U);
  EXPECT_EQ(page->rows[0].id, newer);
  older.spec.clear();
  older.envelope.clear();
  EXPECT_EQ(page->rows[1], older);
  EXPECT_EQ(page->next_cursor, "");
}

TEST_P(TaskStores, WhenAListingIsFiltered_ThenAllFiltersHoldTogether) {
  const AccountId ann = AccountId::assume("acc_1");
  const AccountId bob = AccountId::assume("acc_2");
  std::vector<TaskRow> rows;
  for (int i = 0; i < 16; ++i) {
    auto task = some_task();
    task.owner = i % 2 == 0 ? ann : bob;
    task.node = i % 4 < 2 ? node_one : (i % 8 < 4 ? node_two : NodeId());
    task.state = i < 8 ? TaskState::queued : TaskState::finished;
    add_task(task);
    rows.insert(rows.begin(), task);
  }
  for (const auto& owner : {AccountId(), ann, bob}) {
    for (const auto& node : {NodeId(), node_one, node_two}) {
      for (const auto state :
           {std::optional<TaskState>(), std::optional(TaskState::queued), std::optional(TaskState::lost)}) {
        SCOPED_TRACE(owner.text() + " " + node.text() + " " + (state ? std::string(name_of(*state)) : ""));
        std::vector<TaskId> expected;
        for (const auto& row : rows) {
          const bool matches = (owner.is_empty() || row.owner == owner) &&
                               (node.is_empty() || row.node == node) && (!state || row.state == *state);
          if (matches) expected.push_back(row.id);
        }
        EXPECT_EQ(list({.owner = owner, .node = node, .state = state}), expected);
      }
    }
  }
}

TEST_P(TaskStores, WhenPagesAreFollowedWhileTasksArrive_ThenEachOlderOneComesOnce) {
  std::vector<TaskId> expected;
  for (int i = 0; i < 10; ++i) expected.insert(expected.begin(), add_task(some_task()));

  std::vector<TaskId> seen;
  PageRequest request{.limit = 4, .cursor = ""};
  do {
    auto page = read([&](ReadTransaction& tx) { return tx.tasks.list({}, request); });
    ASSERT_TRUE(page);
    for (const auto& row : page->rows) seen.push_back(row.id);
    request.cursor = page->next_cursor;
    add_task(some_task());
  } while (!request.cursor.empty());

  EXPECT_EQ(seen, expected);
}

TEST_P(TaskStores, WhenAPageRequestIsHostile_ThenItIsInvalidAndNotEchoed) {
  for (int i = 0; i < 3; ++i) add_task(some_task());
  const auto page = read([](ReadTransaction& tx) { return tx.tasks.list({}, {.limit = 1, .cursor = ""}); });
  const auto good = page->next_cursor;
  ASSERT_FALSE(good.empty());
  const std::vector<PageRequest> hostile = {
      {.limit = 0, .cursor = ""},           {.limit = 201, .cursor = ""},
      {.limit = 0xffffffff, .cursor = ""},  {.limit = 5, .cursor = "hunter2"},
      {.limit = 5, .cursor = good + "A"},   {.limit = 5, .cursor = good + "="},
      {.limit = 5, .cursor = "' OR 1"},     {.limit = 5, .cursor = std::string(1'000'000, 'A')},
      {.limit = 5, .cursor = "bm9kZV8wMQ"},  // another kind of id
  };
  for (const auto& request : hostile) {
    SCOPED_TRACE(request.cursor.substr(0, 40));
    const auto refused = read([&](ReadTransaction& tx) { return tx.tasks.list({}, request); });
    ASSERT_EQ(code_of(refused), ErrorCode::invalid);
    EXPECT_EQ(refused.error().what().find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(list({}, {.limit = 200, .cursor = good}).size(), 2U);
}

// proves X16
TEST_P(TaskStores, WhenAHubRestarts_ThenEveryUnfinishedTaskIsListedCompletely) {
  std::vector<TaskRow> expected;
  for (const auto state : {TaskState::queued, TaskState::dispatched, TaskState::accepted, TaskState::running,
                           TaskState::finished, TaskState::failed, TaskState::cancelled, TaskState::timed_out,
                           TaskState::lost}) {
    auto task = some_task();
    task.state = state;
    task.node = state == TaskState::running ? node_one : NodeId();
    add_task(task);
    if (!is_final(state)) expected.push_back(task);
  }

  harness_->reopen();

  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.tasks.unfinished(NodeId()); }), expected);
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.tasks.unfinished(node_one); }),
            std::vector{expected.back()});
  EXPECT_TRUE(read([](ReadTransaction& tx) { return tx.tasks.unfinished(node_two); })->empty());
}

TEST_P(TaskStores, WhenAStreamIsArchived_ThenItsRecordsComeBackByteForByte) {
  StreamRow stream{.id = next_id<StreamId>(),
                   .task = next_id<TaskId>(),
                   .place = StreamPlace::archived,
                   .incarnation = Bytes(8, '\xff'),
                   .payload_bytes = 3'000'000'000'000,
                   .completed_at = WallTime{9}};
  Bytes records(300'000, '\0');
  for (std::size_t i = 0; i < records.size(); ++i) records[i] = static_cast<char>(i * 7 % 251);

  ASSERT_TRUE(write([&](Transaction& tx) { return tx.streams.add(stream, records); }));

  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.streams.find(stream.id); }), stream);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.streams.find_records(stream.id); }), records);
  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.streams.add(stream, "x"); })),
            ErrorCode::conflict);
  EXPECT_TRUE(*write([&](Transaction& tx) { return tx.streams.remove(stream.id); }));
  EXPECT_FALSE(*write([&](Transaction& tx) { return tx.streams.remove(stream.id); }));
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.streams.find_records(stream.id); }), std::nullopt);
}

TEST_P(TaskStores, WhenSegmentsHoldAStream_ThenThereAreNoRecordsHere) {
  const StreamRow stream{.id = next_id<StreamId>(),
                         .task = next_id<TaskId>(),
                         .place = StreamPlace::segments,
                         .incarnation = "",
                         .payload_bytes = 1,
                         .completed_at = WallTime{9}};
  auto archived = stream;
  archived.place = StreamPlace::archived;

  EXPECT_EQ(code_of(write([&](Transaction& tx) { return tx.streams.add(stream, "records"); })),
            ErrorCode::invalid);
  EXPECT_EQ(code_of(write([&](Transaction& tx) {
              return tx.streams.add(archived, Bytes(max_archived_bytes + 1, 'x'));
            })),
            ErrorCode::too_large);
  ASSERT_TRUE(write([&](Transaction& tx) { return tx.streams.add(stream, ""); }));
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.streams.find(stream.id); }), stream);
  EXPECT_EQ(*read([&](ReadTransaction& tx) { return tx.streams.find_records(stream.id); }), std::nullopt);
}

TEST_P(TaskStores, WhenAnIdempotencyKeyIsUsed_ThenItHoldsUntilItExpires) {
  IdempotencyRow row{.owner = AccountId::assume("acc_1"),
                     .key = "k'1",
                     .request_hash = "h",
                     .status = 0,
                     .body = "",
                     .task = TaskId(),
                     .created_at = WallTime{10},
                     .expires_at = WallTime{20}};
  const auto find = [&](const AccountId& owner, std::int64_t now) {
    return *read([&](ReadTransaction& tx) { return tx.idempotency.find(owner, row.key, WallTime{now}); });
  };
  const auto add = [&](const IdempotencyRow& fresh) {
    return write([&](Transaction& tx) { return tx.idempotency.add(fresh); });
  };
  ASSERT_TRUE(add(row));
  EXPECT_EQ(code_of(add(row)), ErrorCode::conflict);

  ASSERT_TRUE(
      write([&](Transaction& tx) { return tx.idempotency.set_answer(row.owner, row.key, 201, "body"); }));

  row.status = 201;
  row.body = "body";
  EXPECT_EQ(find(row.owner, 19), row);
  EXPECT_EQ(find(row.owner, 20), std::nullopt);
  EXPECT_EQ(find(AccountId::assume("acc_2"), 15), std::nullopt);
  auto later = row;
  later.created_at = WallTime{20};
  later.expires_at = WallTime{30};
  EXPECT_TRUE(add(later));
  EXPECT_EQ(find(row.owner, 25), later);
  EXPECT_EQ(*write([](Transaction& tx) { return tx.idempotency.prune(WallTime{29}); }), 0U);
  EXPECT_EQ(*write([](Transaction& tx) { return tx.idempotency.prune(WallTime{30}); }), 1U);
  EXPECT_EQ(
      code_of(write([&](Transaction& tx) { return tx.idempotency.set_answer(row.owner, row.key, 1, ""); })),
      ErrorCode::not_found);
}

TEST_P(TaskStores, WhenSettingsAreKept_ThenTheyAreReplacedListedByPrefixAndBounded) {
  const auto put = [&](const std::string& name, const Bytes& value) {
    return write([&](Transaction& tx) { return tx.deployment.put_setting(name, value); });
  };
  ASSERT_TRUE(put("key.a", "1"));
  ASSERT_TRUE(put("key.b", "2"));
  ASSERT_TRUE(put("other", "3"));
  ASSERT_TRUE(put("key.b", Bytes("4\0", 2)));

  using Settings = std::map<std::string, Bytes>;
  EXPECT_EQ(*read([](ReadTransaction& tx) { return tx.deployment.settings("key."); }),
            (Settings{{"key.a", "1"}, {"key.b", Bytes("4\0", 2)}}));
  EXPECT_EQ(read([](ReadTransaction& tx) { return tx.deployment.settings(""); })->size(), 3U);
  EXPECT_TRUE(*write([](Transaction& tx) { return tx.deployment.remove_setting("other"); }));
  EXPECT_FALSE(*write([](Transaction& tx) { return tx.deployment.remove_setting("other"); }));
  EXPECT_EQ(code_of(put("", "x")), ErrorCode::invalid);
  EXPECT_EQ(code_of(put("big", Bytes(max_setting_bytes + 1, 'x'))), ErrorCode::too_large);
}

INSTANTIATE_TEST_SUITE_P(Adapters, TaskStores, ::testing::Values("memory", "sqlite"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace outhaul::store
