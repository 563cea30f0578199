#include "hub/nodes/enrolment.h"

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/fingerprint.h"
#include "crypto/statement.h"
#include "crypto/token.h"
#include "http/json_writer.h"
#include "hub/accounts/account_service.h"
#include "hub/nodes/certificate_rules.h"

namespace outhaul::hub {
namespace {

std::unexpected<Error> token_invalid() {
  return fail(ErrorCode::enrolment_token_invalid,
              "the enrolment token is unknown, expired or used by another key");
}

Result<void> check_wish(const NodeTokenWish& wish) {
  if (!is_legal_name(wish.pool)) return fail(ErrorCode::invalid, "pool: not a legal name");
  if (wish.labels.size() > EnrolmentService::max_labels)
    return fail(ErrorCode::invalid, "labels: more than 32");
  const auto is_legal = [](const auto& label) {
    return is_legal_name(label.first) && label.second.size() <= 63;
  };
  if (!std::ranges::all_of(wish.labels, is_legal))
    return fail(ErrorCode::invalid, "labels: not a legal name or value");
  if (!std::ranges::all_of(wish.planes,
                           [](const auto& plane) { return wire::parse_plane(plane).has_value(); })) {
    return fail(ErrorCode::invalid, "planes: unknown plane");
  }
  return {};
}

}  // namespace

// A node that is made if its token can still be used.
struct EnrolmentService::Candidate {
  store::NodeRow node;
  store::Redemption redemption;
};

// An approval is of these keys and no others.
bool EnrolmentService::is_approved(const store::EnrolmentTokenRow& token, const Candidate& candidate) {
  return token.wish && token.wish->approval == store::Approval::given &&
         token.wish->key_hash == candidate.redemption.key_hash;
}

EnrolmentService::EnrolmentService(const HubPorts& ports, const HubSettings& settings, const HubKeys& keys,
                                   NodeRegistry& registry)
    : clock_(ports.clock),
      random_(ports.random),
      database_(ports.database),
      settings_(settings),
      keys_(keys),
      registry_(registry) {}

Task<Result<NewNodeToken>> EnrolmentService::create_token(NodeTokenWish wish) {
  OUTHAUL_CO_CHECK(check_wish(wish));
  OUTHAUL_CO_TRY(token, crypto::make_enrolment_token(settings_.deployment, random_));
  store::EnrolmentTokenRow row;
  row.created_at = clock_.wall_now();
  row.id = EnrolmentTokenId::make(row.created_at, random_);
  row.hash = crypto::sha256(token.text.reveal_for("store its hash"));
  row.created_by = wish.created_by;
  row.expires_at = row.created_at + wish.expires_in.value_or(settings_.enrolment_token_lifetime);
  row.pool = std::move(wish.pool);
  row.labels = std::move(wish.labels);
  row.planes = std::move(wish.planes);
  row.needs_approval = wish.needs_approval;
  auto work = [row](store::Transaction& tx) { return tx.enrolment_tokens.add(row); };
  OUTHAUL_CO_CHECK(co_await database_.transact(std::move(work)));
  co_return NewNodeToken{std::move(row), std::move(token.text)};
}

Task<Result<store::Page<store::EnrolmentTokenRow>>> EnrolmentService::list_tokens(store::PageRequest page) {
  auto work = [page = std::move(page)](store::ReadTransaction& tx) { return tx.enrolment_tokens.list(page); };
  co_return co_await database_.read(std::move(work));
}

Task<Result<void>> EnrolmentService::revoke_token(EnrolmentTokenId id) {
  auto work = [id](store::Transaction& tx) { return tx.enrolment_tokens.revoke(id); };
  co_return co_await database_.transact(std::move(work));
}

Task<Result<std::optional<WaitingEnrolment>>> EnrolmentService::ask_approval(EnrolmentRequest request) {
  OUTHAUL_CO_CHECK(check(request));
  const auto hash = crypto::sha256(request.token);
  OUTHAUL_CO_TRY(token, co_await find_usable_token(hash));
  if (!token.needs_approval || token.redemption) co_return std::nullopt;
  OUTHAUL_CO_TRY(csr, crypto::CertificateRequest::parse_pem(request.csr_pem));
  store::EnrolmentWish wish;
  wish.key_hash = crypto::sha256(csr.spki() + request.signing_key);
  wish.fingerprint = crypto::Fingerprint::of_spki(csr.spki()).text();
  wish.name = request.name;
  wish.address = request.address;
  wish.asked_at = clock_.wall_now();
  const bool is_new = !token.wish;
  auto work = [hash, wish](store::Transaction& tx) { return tx.enrolment_tokens.ask(hash, wish); };
  OUTHAUL_CO_TRY(held, co_await database_.transact(std::move(work)));
  if (held.approval == store::Approval::given) co_return std::nullopt;
  if (held.approval == store::Approval::denied)
    co_return fail(ErrorCode::denied, "an operator denied this enrolment");
  token.wish = std::move(held);
  co_return WaitingEnrolment{std::move(token), is_new};
}

Task<Result<std::vector<store::EnrolmentTokenRow>>> EnrolmentService::list_waiting() {
  std::vector<store::EnrolmentTokenRow> waiting;
  store::PageRequest page{store::max_page_rows, {}};
  do {
    OUTHAUL_CO_TRY(tokens, co_await list_tokens(page));
    page.cursor = tokens.next_cursor;
    for (auto& row : tokens.rows) {
      const bool waits = row.wish && row.wish->approval == store::Approval::asked;
      if (waits && row.expires_at > clock_.wall_now()) waiting.push_back(std::move(row));
    }
  } while (!page.cursor.empty());
  co_return waiting;
}

Task<Result<void>> EnrolmentService::decide(EnrolmentTokenId id, std::string fingerprint, bool is_approved) {
  const auto approval = is_approved ? store::Approval::given : store::Approval::denied;
  auto work = [id, fingerprint, approval](store::Transaction& tx) {
    return tx.enrolment_tokens.decide(id, fingerprint, approval);
  };
  co_return co_await database_.transact(std::move(work));
}

// Compared and set in one transaction: of two machines with one token, one becomes a node.
Task<Result<Bytes>> EnrolmentService::enrol(EnrolmentRequest request) {
  OUTHAUL_CO_CHECK(check(request));
  const auto hash = crypto::sha256(request.token);
  OUTHAUL_CO_TRY(token, co_await find_usable_token(hash));
  OUTHAUL_CO_TRY(candidate, make_candidate(request, token));
  if (token.needs_approval && !is_approved(token, candidate)) {
    co_return fail(ErrorCode::denied, "the enrolment is not approved");
  }
  auto work = [hash, candidate](store::Transaction& tx) -> Result<store::RedeemOutcome> {
    OUTHAUL_TRY(outcome, tx.enrolment_tokens.redeem(hash, candidate.redemption));
    if (outcome.is_first) {
      OUTHAUL_CHECK(tx.nodes.add(candidate.node));
      return std::move(outcome);
    }
    OUTHAUL_TRY(node, tx.nodes.find(outcome.redemption.node));
    if (!node) return fail(ErrorCode::node_unknown, "this hub has no record of the node of this token");
    if (node->state == store::NodeState::removed) {
      return fail(ErrorCode::node_removed, "the node of this token was removed from the hub");
    }
    return std::move(outcome);
  };
  OUTHAUL_CO_TRY(outcome, co_await database_.transact(std::move(work)));
  if (outcome.is_first) registry_.put(std::move(candidate.node));
  co_return std::move(outcome.redemption.answer);
}

Result<void> EnrolmentService::check(const EnrolmentRequest& request) const {
  OUTHAUL_TRY(token, crypto::parse_enrolment_token(request.token));
  if (token.deployment != settings_.deployment) return token_invalid();
  if (!is_legal_name(request.name)) {
    return fail(ErrorCode::invalid, "name: 1 to 63 of a-z, 0-9, _ and -, from a letter to a letter or digit");
  }
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(request.signing_key));
  if (!key.verify(crypto::enrolment_statement(request.token, request.csr_pem), request.proof)) {
    return fail(ErrorCode::certificate_invalid,
                "proof: not a signature by the signing key over this request");
  }
  return {};
}

// Spares strangers with a bad token the cost of certificates; redeem() decides.
Task<Result<store::EnrolmentTokenRow>> EnrolmentService::find_usable_token(Bytes hash) {
  auto work = [hash = std::move(hash)](store::ReadTransaction& tx) {
    return tx.enrolment_tokens.find_by_hash(hash);
  };
  OUTHAUL_CO_TRY(token, co_await database_.read(std::move(work)));
  if (!token || clock_.wall_now() >= token->expires_at) co_return token_invalid();
  co_return std::move(*token);
}

Result<EnrolmentService::Candidate> EnrolmentService::make_candidate(const EnrolmentRequest& request,
                                                                     const store::EnrolmentTokenRow& token) {
  OUTHAUL_TRY(csr, crypto::CertificateRequest::parse_pem(request.csr_pem));
  OUTHAUL_TRY(key, crypto::VerifyKey::parse(request.signing_key));
  const auto now = clock_.wall_now();
  const crypto::NodeIdentity identity{settings_.deployment, NodeId::make(now, random_)};
  OUTHAUL_TRY(certificate,
              keys_.authority.issue_node(csr, identity, {now, certificate_lifetime(settings_)}, random_));
  OUTHAUL_TRY(signing,
              keys_.authority.issue_signing(key, identity, {now, crypto::authority_lifetime}, random_));
  Candidate candidate;
  auto& node = candidate.node;
  node.id = identity.node;
  node.name = request.name;
  node.pool = token.pool;
  node.labels = token.labels;
  node.planes = token.planes;
  node.enrolled_at = now;
  node.certificate = describe_certificate(certificate);
  node.signing_key = request.signing_key;
  node.is_ephemeral = request.is_ephemeral;
  // Both keys: whoever has only one of them is somebody else.
  candidate.redemption = {crypto::sha256(csr.spki() + request.signing_key), node.id, {}, now};
  candidate.redemption.answer = answer_for(candidate, certificate.pem(), signing.pem());
  return candidate;
}

Bytes EnrolmentService::answer_for(const Candidate& candidate, const std::string& certificate_pem,
                                   const std::string& signing_pem) const {
  const auto ca_pem = keys_.authority.certificate().pem();
  http::JsonWriter json;
  json.begin_object().field("node_id", candidate.node.id.text()).field("name", candidate.node.name);
  json.field("deployment", settings_.deployment).field("chain", certificate_pem + ca_pem);
  json.field("signing_certificate", signing_pem).field("ca_bundle", ca_pem);
  json.key("hub_keys").begin_array().begin_object();
  json.field("key_id", keys_.signing_key_id.text());
  json.field("public_key", to_base64(keys_.signing_key.public_key()));
  json.end_object().end_array().end_object();
  return std::move(json).take_text();
}

}  // namespace outhaul::hub
