// outhaul-hub restore: a new data directory out of a backup, in which nothing is taken for the present that
// may have changed since the backup was made.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <set>
#include <vector>

#include "base/remedy.h"
#include "base/system_clock.h"
#include "base/time_text.h"
#include "crypto/data_files.h"
#include "http/json_writer.h"
#include "hub/backup_manifest.h"
#include "hub/hub_data.h"
#include "hub/restore.h"
#include "main/file_copy.h"
#include "main/hub_parts.h"
#include "main/run_on_loop.h"

namespace outhaul {
namespace {

namespace fs = std::filesystem;

// What holds again as it did when the backup was made, whatever was decided since.
struct ValidAgain {
  std::vector<std::string> nodes;     // names
  std::vector<std::string> tokens;    // "ann: laptop"
  std::vector<std::string> accounts;  // names
};

struct Restored {
  hub::BackupManifest manifest;
  hub::Restoration marked;
  ValidAgain valid;
};

Result<hub::BackupManifest> read_manifest(const fs::path& from) {
  auto text = crypto::read_private_file(from / hub::backup_manifest_file, hub::max_backup_manifest_bytes);
  if (!text && text.error().code() == ErrorCode::not_found) {
    return fail(ErrorCode::backup_foreign, from.string() + " holds no manifest of a backup");
  }
  if (!text) return fail(std::move(text).error());
  return hub::parse_backup_manifest(text->reveal_for("read the names of files"));
}

std::unexpected<Error> damaged(const std::string& name, const char* how) {
  return fail(Error(ErrorCode::backup_damaged, "the backup's " + name + " " + how).with("file", name));
}

// Everything is there that a hub needs.
Result<void> check_complete(const hub::BackupManifest& manifest) {
  std::set<std::string, std::less<>> names;
  for (const auto& file : manifest.files) names.insert(file.name);
  for (const auto name : hub::identity_files()) {
    if (!names.contains(name)) return damaged(std::string(name), "is not in its manifest");
  }
  if (!names.contains(hub::database_file))
    return damaged(std::string(hub::database_file), "is not in its manifest");
  return {};
}

Result<void> match(const Result<hub::BackupFile>& found, const hub::BackupFile& wanted) {
  if (!found && found.error().code() == ErrorCode::not_found) return damaged(wanted.name, "is missing");
  OUTHAUL_CHECK(found);
  if (found->bytes != wanted.bytes || found->sha256 != wanted.sha256) {
    return damaged(wanted.name, "is not what was backed up");
  }
  return {};
}

// Before anything is made: most damage is found here.
Result<void> verify(const hub::BackupManifest& manifest, const fs::path& from) {
  OUTHAUL_CHECK(check_complete(manifest));
  for (const auto& file : manifest.files) OUTHAUL_CHECK(match(sum_of(from / file.name), file));
  return {};
}

bool is_mark(const std::string& name) { return name == hub::identity_files().back(); }

// All but what marks the directory as whole.
Result<void> copy_files(const hub::BackupManifest& manifest, const fs::path& from,
                        const crypto::DataDirectory& data) {
  OUTHAUL_CHECK(make_private_directory(data.file(hub::streams_directory)));
  for (const auto& file : manifest.files) {
    if (!is_mark(file.name))
      OUTHAUL_CHECK(match(copy_and_sum(from / file.name, data.path() / file.name), file));
  }
  return sync_names_in(data.file(hub::streams_directory));
}

Result<void> copy_mark(const hub::BackupManifest& manifest, const fs::path& from,
                       const crypto::DataDirectory& data) {
  for (const auto& file : manifest.files) {
    if (is_mark(file.name))
      OUTHAUL_CHECK(match(copy_and_sum(from / file.name, data.path() / file.name), file));
  }
  return sync_names_in(data.path());
}

// Calls `take` with every row of a listing.
template <class List, class Take>
Result<void> for_each_row(List list, Take take) {
  store::PageRequest request{store::max_page_rows, {}};
  do {
    OUTHAUL_TRY(page, list(request));
    for (const auto& row : page.rows) take(row);
    request.cursor = page.next_cursor;
  } while (!request.cursor.empty());
  return {};
}

Result<ValidAgain> find_valid(store::ReadTransaction& tx, WallTime now) {
  ValidAgain valid;
  std::map<AccountId, std::string> names;
  const auto take_account = [&](const store::AccountRow& account) {
    if (account.disabled_at) return;
    names.emplace(account.id, account.name);
    valid.accounts.push_back(account.name);
  };
  OUTHAUL_CHECK(for_each_row([&](const auto& page) { return tx.accounts.list(page); }, take_account));
  const auto take_token = [&](const store::ApiTokenRow& token) {
    const auto owner = names.find(token.account);
    if (owner == names.end() || token.revoked_at || (token.expires_at && *token.expires_at <= now)) return;
    valid.tokens.push_back(owner->second + ": " + token.name);
  };
  OUTHAUL_CHECK(for_each_row([&](const auto& page) { return tx.api_tokens.list({}, page); }, take_token));
  const auto take_node = [&](const store::NodeRow& node) {
    if (node.state != store::NodeState::removed) valid.nodes.push_back(node.name);
  };
  OUTHAUL_CHECK(for_each_row([&](const auto& page) { return tx.nodes.list(page); }, take_node));
  return valid;
}

Task<Result<void>> mark(store::Database& database, WallTime now, Restored& restored) {
  auto work = [now](store::Transaction& tx) { return hub::mark_restored(tx, now); };
  OUTHAUL_CO_TRY(marked, co_await database.transact(std::move(work)));
  restored.marked = marked;
  auto look = [now](store::ReadTransaction& tx) { return find_valid(tx, now); };
  OUTHAUL_CO_TRY(valid, co_await database.read(std::move(look)));
  restored.valid = std::move(valid);
  co_return Result<void>();
}

Result<Restored> restore(const HubOptions& options) {
  SystemClock clock;
  const fs::path from = options.from;
  Restored restored;
  OUTHAUL_TRY(manifest, read_manifest(from));
  OUTHAUL_CHECK(verify(manifest, from));
  // A hub's directory is never written into, whatever state it is in.
  OUTHAUL_CHECK(make_private_directory(options.data));
  OUTHAUL_TRY(data, crypto::DataDirectory::create_or_open(options.data, crypto::DataOwner::hub));
  OUTHAUL_CHECK(copy_files(manifest, from, data));
  {
    OUTHAUL_TRY(database,
                store::SqliteDatabase::open(hub_database(data, manifest.deployment), clock.wall_now()));
    asio::io_context io(1);
    OUTHAUL_CHECK(run_on_loop(io, mark(*database, clock.wall_now(), restored)));
  }
  OUTHAUL_CHECK(copy_mark(manifest, from, data));
  OUTHAUL_CHECK(hub::load_identity(data));
  restored.manifest = std::move(manifest);
  return restored;
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

void print_text(const Restored& restored, const std::string& data) {
  const auto& manifest = restored.manifest;
  const auto& marked = restored.marked;
  const auto when = time_text(manifest.made_at);
  fmt::print("restored     {} in {}, as it was at {}\n", manifest.deployment, data, when);
  fmt::print("epoch        {}; it was {}: no fence is used twice\n", marked.epoch, manifest.epoch);
  fmt::print(
      "in doubt     {} tasks had not ended. None is sent again: nodes hand over what they hold, the rest "
      "ends as `hub_restored`\n",
      marked.tasks_in_doubt);
  fmt::print("enrolment    {} unused tokens are forgotten\n\n", marked.tokens_forgotten);
  fmt::print(
      "VALID AGAIN  Whatever was removed, disabled or revoked after {} holds again. Look through these "
      "before you start it:\n",
      when);
  fmt::print("  nodes      {}\n  accounts   {}\n  API tokens {}\n\n", joined(restored.valid.nodes),
             joined(restored.valid.accounts), joined(restored.valid.tokens));
  fmt::print(
      "The directory that this replaces must never be served again; see docs/runbooks/restore.md. Then:\n"
      "  outhaul-hub serve --data {}\n",
      data);
}

void write_list(http::JsonWriter& json, std::string_view name, const std::vector<std::string>& words) {
  json.key(name).begin_array();
  for (const auto& word : words) json.value(word);
  json.end_array();
}

void print_json(const Restored& restored) {
  const auto& marked = restored.marked;
  http::JsonWriter json;
  json.begin_object().field("deployment", restored.manifest.deployment);
  json.field("backup_made_at", time_text(restored.manifest.made_at));
  json.field("epoch", marked.epoch).field("epoch_before", restored.manifest.epoch);
  json.field("tasks_in_doubt", marked.tasks_in_doubt).field("tokens_forgotten", marked.tokens_forgotten);
  json.key("valid_again").begin_object();
  write_list(json, "nodes", restored.valid.nodes);
  write_list(json, "accounts", restored.valid.accounts);
  write_list(json, "api_tokens", restored.valid.tokens);
  json.end_object().end_object();
  fmt::print("{}\n", std::move(json).take_text());
}

Error explain(Error error, const std::string& data) {
  if (error.code() != ErrorCode::conflict) return error;
  return with_remedy(std::move(error), "A backup is restored into a directory that does not exist yet; " +
                                           data + " is left as it is.");
}

}  // namespace

int restore_hub(const HubOptions& options) {
  auto restored = restore(options);
  if (!restored) return report_fault(explain(std::move(restored).error(), options.data));
  options.json ? print_json(*restored) : print_text(*restored, options.data);
  return 0;
}

}  // namespace outhaul
