#include "testing/hub_world.h"

#include <algorithm>

#include "base/assert.h"
#include "crypto/certificate_request.h"
#include "http/json_reader.h"
#include "hub/accounts/account_service.h"
#include "hub/nodes/enrolment.h"
#include "hub/restore.h"
#include "store/memory_tables.h"
#include "stream/record_decoder.h"
#include "testing/mortal_context.h"

namespace outhaul::testing {
namespace {

constexpr Duration longest_wait = std::chrono::hours(1);

class QuietSink final : public LogSink {
 public:
  void write(std::string_view) override {}
};

hub::HubSettings make_settings() {
  hub::HubSettings settings;
  settings.deployment = HubWorld::deployment;
  return settings;
}

}  // namespace

// One life of the hub's process, in the order of need.
struct HubWorld::Life {
  Life(HubWorld& world, hub::HubKeys keys)
      : log("hub", world.clock_, sink),
        database(io.get_executor(), world.clock_, world.storage_),
        disk(world.image_, io.get_executor(), world.clock_),
        hub({io.get_executor(), world.clock_, world.random_, database, disk, log}, make_settings(),
            std::move(keys)),
        group(io.get_executor()) {}

  MortalContext io;
  QuietSink sink;
  Log log;
  store::MemoryDatabase database;
  stream::MemoryDisk disk;
  hub::Hub hub;
  TaskGroup group;
};

HubWorld::HubWorld()
    : storage_(std::string(deployment), clock_.wall_now()),
      saved_storage_(std::string(deployment), clock_.wall_now()) {
  const crypto::Validity validity{clock_.wall_now(), std::chrono::hours(24 * 3650)};
  authority_ = crypto::CertificateAuthority::make("test authority", validity, random_).value();
  authority_key_pem_ = authority_->key_pem().reveal_for("a test");
  signing_key_pem_ = crypto::SigningKey::generate(random_).pem().reveal_for("a test");
  boot();
  auto work = [this](store::Transaction& tx) {
    return hub::make_first_admin(tx, clock_.wall_now(), random_);
  };
  auto made = run(database().transact(std::move(work))).value();
  admin_ = {made.row.account, "admin", made.row.id, store::Role::admin};
  admin_token_ = made.token.reveal_for("a test");
}

HubWorld::~HubWorld() { crash(); }

void HubWorld::boot() {
  OUTHAUL_ASSERT(!life_);
  hub::HubKeys keys{
      crypto::CertificateAuthority::load(authority_->certificate().pem(), Secret(authority_key_pem_)).value(),
      KeyId::assume("key_01234567890123456789012345"),
      crypto::SigningKey::parse_pem(Secret(signing_key_pem_)).value(),
  };
  life_ = std::make_unique<Life>(*this, std::move(keys));
  const auto started = run(life_->hub.start());
  OUTHAUL_ASSERT(started.has_value());
}

void HubWorld::crash() {
  if (!life_) return;
  life_->database.deaden();
  life_->disk.deaden();
  life_->io.destroy_operations();
  life_.reset();
}

void HubWorld::back_up() {
  saved_storage_.tables().copy_rows(storage_.tables());
  saved_image_ = image_.copy();
}

void HubWorld::restore() {
  crash();
  storage_.tables().copy_rows(saved_storage_.tables());
  image_ = saved_image_.copy();
  const auto marked = storage_.change([this](store::Transaction& tx) -> Result<void> {
    OUTHAUL_CHECK(hub::mark_restored(tx, clock_.wall_now()));
    return {};
  });
  OUTHAUL_ASSERT(marked.has_value());
  boot();
}

hub::Hub& HubWorld::hub() { return life_->hub; }
asio::io_context& HubWorld::io() { return life_->io; }
store::MemoryDatabase& HubWorld::database() { return life_->database; }
stream::MemoryDisk& HubWorld::disk() { return life_->disk; }
TaskGroup& HubWorld::group() { return life_->group; }
void HubWorld::start(std::function<Task<void>()> body) { group().spawn(std::move(body)); }

void HubWorld::run_until(const std::function<bool()>& is_done) {
  const auto give_up = clock_.now() + longest_wait;
  while (!is_done()) {
    if (run_ready(life_->io) > 0) continue;
    const auto wake = clock_.next_wake();
    OUTHAUL_ASSERT(wake && *wake <= give_up);
    clock_.advance(std::max(*wake - clock_.now(), Duration::zero()));
  }
}

void HubWorld::pass(Duration span) {
  const auto end = clock_.now() + span;
  run_ready(life_->io);
  while (clock_.next_wake().value_or(end) < end) {
    clock_.advance(std::max(*clock_.next_wake() - clock_.now(), Duration::zero()));
    run_ready(life_->io);
  }
  clock_.advance(end - clock_.now());
  run_ready(life_->io);
}

hub::TaskOrder HubWorld::order(std::vector<std::string> argv) const {
  hub::TaskOrder order;
  order.owner = admin_.account;
  order.action = wire::ArgvAction{std::move(argv)};
  return order;
}

std::shared_ptr<EnrolledNode> HubWorld::enrol(const std::string& name) {
  hub::NodeTokenWish wish;
  wish.created_by = admin_.account;
  const auto token = run(hub().enrolment().create_token(std::move(wish))).value();
  const auto tls_key = crypto::TlsKey::generate().value();
  auto signing_key = crypto::SigningKey::generate(random_);
  hub::EnrolmentRequest request;
  request.token = token.token.reveal_for("a test");
  request.csr_pem = crypto::make_certificate_request(tls_key, name).value();
  request.signing_key = signing_key.public_key();
  request.proof = signing_key.sign(crypto::enrolment_statement(request.token, request.csr_pem));
  request.name = name;
  const auto answer = run(hub().enrolment().enrol(std::move(request))).value();
  auto json = http::JsonReader::parse(answer).value();
  const auto certificate = crypto::Certificate::parse_pem(json.string("signing_certificate")).value();
  // Shared because a test may give one identity to two nodes.
  return std::make_shared<EnrolledNode>(NodeId::assume(json.string("node_id")), std::move(signing_key),
                                        certificate.der());
}

ScriptNode::ScriptNode(HubWorld& world, std::shared_ptr<EnrolledNode> identity)
    : world_(world), identity_(std::move(identity)) {
  restart();
}

ScriptNode::~ScriptNode() { cut(); }

void ScriptNode::restart() {
  if (link_) cut();
  instance = InstanceId::make(world_.clock().wall_now(), world_.random()).text();
}

void ScriptNode::cut() {
  if (!link_) return;
  link_->cut();
  link_.reset();
  if (tunnel_ != nullptr) world_.run_until([this] { return tunnel_ == nullptr; });
}

v1::Hello ScriptNode::make_hello() const {
  v1::Hello hello;
  hello.set_version("1.2.3");
  hello.set_instance_id(instance);
  hello.set_boot_id("boot");
  hello.set_slots(slots);
  hello.mutable_manifest()->set_platform("linux/amd64");
  hello.mutable_manifest()->add_planes("task");
  hello.mutable_manifest()->add_isolation("trusted");
  hello.mutable_manifest()->set_asks_user_signature(asks_user_signature);
  for (const auto& [id, known] : tasks_) {
    if (!known.is_complete) hello.add_live_tasks(id.text());
    if (known.is_acknowledged) continue;
    auto& position = *hello.add_unacknowledged();
    position.set_stream_id(known.spec.stream_id.text());
    position.set_incarnation("incarnat");
  }
  return hello;
}

bool ScriptNode::attach() {
  const auto uri = crypto::NodeIdentity{std::string(HubWorld::deployment), identity_->id}.uri();
  auto carriers = make_memory_carriers(world_.io().get_executor(), uri);
  link_.emplace(carriers.link);
  has_answer_ = false;
  failure_.reset();
  world_.hub().attach(std::move(carriers.hub));
  world_.start([this, carrier = std::move(carriers.node)]() mutable -> Task<void> {
    return live(std::move(carrier));
  });
  world_.run_until([this] { return has_answer_; });
  // The welcome is on its way; the hub's side has begun by now.
  run_ready(world_.io());
  return !failure_.has_value();
}

Task<void> ScriptNode::live(std::unique_ptr<transport::Carrier> carrier) {
  wire::NodeSession::Config config;
  config.observed_spki = "hub spki";
  auto dialled = co_await transport::dial_tunnel(std::move(carrier), config, *identity_, make_hello(),
                                                 {world_.clock(), world_.random()});
  has_answer_ = true;
  if (!dialled) {
    failure_ = dialled.error();
    co_return;
  }
  // Also when the frame is destroyed. A newer tunnel may have taken its place.
  struct Leave {
    ScriptNode& node;
    const transport::Tunnel* tunnel;
    ~Leave() {
      if (node.tunnel_ == tunnel) node.tunnel_ = nullptr;
    }
  } const leave{*this, &dialled->tunnel};
  tunnel_ = &dialled->tunnel;
  welcome_ = dialled->facts.welcome;
  for (const auto& [id, known] : tasks_) {
    if (known.is_acknowledged || known.records.empty()) continue;
    world_.start([this, task = id]() -> Task<void> { return send_stream(task, false); });
  }
  auto reason = co_await dialled->tunnel.run(*this);
  if (tunnel_ == &dialled->tunnel) failure_ = std::move(reason);
}

void ScriptNode::on_control(const v1::Control& message) {
  controls_.push_back(message);
  for (const auto& position : message.stream_acks().positions()) {
    if (!position.complete()) continue;
    for (auto& [id, known] : tasks_) {
      if (known.spec.stream_id.text() == position.stream_id()) known.is_acknowledged = true;
    }
  }
}

bool ScriptNode::has_acknowledgement(const StreamId& stream) const {
  return std::ranges::any_of(tasks_, [&stream](const auto& entry) {
    return entry.second.spec.stream_id == stream && entry.second.is_acknowledged;
  });
}

std::size_t ScriptNode::started(const TaskId& task) const {
  const auto found = started_.find(task);
  return found == started_.end() ? 0 : found->second;
}

void ScriptNode::on_open(transport::IncomingChannel incoming) {
  if (incoming.target().plane() == wire::Plane::task) return take_task(std::move(incoming));
  auto body = [this, held = std::move(incoming)]() mutable -> Task<void> {
    return take_input(std::move(held));
  };
  world_.start(std::move(body));
}

void ScriptNode::take_task(transport::IncomingChannel incoming) {
  const Bytes envelope = incoming.open().envelope().bytes();
  const auto spec = wire::parse_task_spec(wire::parse_envelope(envelope).value().payload).value();
  arrivals_.push_back({spec, envelope});
  if (tasks_.contains(spec.task_id)) return incoming.refuse(Error(ErrorCode::task_replayed, "seen before"));
  if (answer == Answer::refuse) return incoming.refuse(Error(refusal, "as the test says"));
  ++started_[spec.task_id];
  tasks_.emplace(spec.task_id, Known{spec, envelope, {}, false, false});
  if (answer == Answer::silent) {
    // Held for good: the hub never hears that it was accepted.
    auto hold = [held = std::move(incoming), this]() mutable -> Task<void> {
      Event never(world_.io().get_executor());
      co_await never.wait();
    };
    return world_.start(std::move(hold));
  }
  v1::Accept accept;
  accept.set_state("accepted");
  incoming.accept(std::move(accept)).finish();
  if (answer != Answer::finish) return;
  add_record(tasks_.at(spec.task_id), stream::RecordKind::standard_output, output);
  finish(spec.task_id);
}

void ScriptNode::claim(const Arrival& arrival) {
  tasks_.emplace(arrival.spec.task_id, Known{arrival.spec, arrival.envelope, {}, false, false});
}

Task<void> ScriptNode::take_input(transport::IncomingChannel incoming) {
  const auto id = StreamId::parse(incoming.target().target().name()).value();
  v1::Accept accept;
  accept.mutable_position()->set_stream_id(id.text());
  accept.mutable_position()->set_offset(inputs_[id].size());
  const auto incarnation = incoming.open().stream().incarnation();
  auto channel = incoming.accept(std::move(accept));
  stream::RecordDecoder decoder;
  while (true) {
    const auto bytes = co_await channel.receive();
    if (!bytes || !*bytes) break;
    decoder.feed(**bytes);
    while (auto record = decoder.next().value()) {
      if (record->header().kind == stream::RecordKind::standard_output) inputs_[id].append(record->payload());
    }
    v1::Control control;
    auto& position = *control.mutable_stream_acks()->add_positions();
    position.set_stream_id(id.text());
    position.set_incarnation(incarnation);
    position.set_offset(inputs_[id].size());
    if (tunnel_ == nullptr || !tunnel_->send_control(control)) break;
  }
  channel.finish();
}

void ScriptNode::add_record(Known& known, stream::RecordKind kind, ByteView payload) {
  std::uint64_t offset = 0;
  for (ByteView rest = known.records; !rest.empty();) {
    const auto record = stream::parse_record(rest).value();
    offset = record.end_offset();
    rest.remove_prefix(record.size());
  }
  known.records.append(
      stream::EncodedRecord::make(kind, offset, world_.clock().wall_now(), payload).bytes().view());
}

void ScriptNode::tell_running(const TaskId& task) {
  v1::Control message;
  message.mutable_tasks_started()->add_task_ids(task.text());
  OUTHAUL_ASSERT(tunnel_ && tunnel_->send_control(message));
}

void ScriptNode::finish(const TaskId& task, int exit_code) {
  auto& known = tasks_.at(task);
  wire::TaskResult result;
  result.task_id = task;
  result.end = wire::Exited{exit_code};
  result.started_at = world_.clock().wall_now();
  result.ended_at = world_.clock().wall_now();
  add_record(known, stream::RecordKind::result, wire::serialise_task_result(result));
  known.is_complete = true;
  world_.start([this, task]() -> Task<void> { return send_stream(task, false); });
}

void ScriptNode::begin_output(const TaskId& task, Bytes bytes) {
  add_record(tasks_.at(task), stream::RecordKind::standard_output, bytes);
  world_.start([this, task]() -> Task<void> { return send_stream(task, false); });
}

// Sends what there is from where the hub stands.
Task<void> ScriptNode::send_stream(TaskId task, bool with_envelope) {
  if (tunnel_ == nullptr) co_return;
  const auto known = tasks_.at(task);
  const auto target = wire::ChannelTarget::parse("stream", "stream:" + known.spec.stream_id.text()).value();
  v1::Open open;
  open.mutable_stream()->set_incarnation("incarnat");
  open.mutable_stream()->set_task_id(task.text());
  if (with_envelope) open.mutable_envelope()->set_bytes(known.envelope);
  auto channel = tunnel_->open(target, std::move(open));
  if (!channel) co_return;
  const auto accept = co_await channel->accepted();
  if (!accept && accept.error().code() == ErrorCode::stream_unknown && !with_envelope) {
    co_return co_await send_stream(task, true);
  }
  if (!accept) co_return;
  if (accept->position().complete()) {
    tasks_.at(task).is_acknowledged = true;
    co_return;
  }
  if (!co_await channel->send(known.records)) co_return;
  channel->finish();
  // Until the hub has ended its side: leaving earlier would reset the channel.
  while (true) {
    const auto more = co_await channel->receive();
    if (!more || !*more) break;
  }
}

}  // namespace outhaul::testing
