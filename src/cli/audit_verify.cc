#include "cli/audit_verify.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "audit/log_files.h"
#include "cli/api.h"
#include "cli/terminal.h"
#include "crypto/digest.h"

namespace outhaul::cli {
namespace {

constexpr std::size_t read_bytes = 1U << 20U;

// A data directory keeps its log in `streams`; a copy of that alone will do.
audit::DirectoryFiles files_of(const std::string& directory) {
  const auto streams = std::filesystem::path(directory) / "streams";
  std::error_code fault;
  return audit::DirectoryFiles(
      std::filesystem::is_directory(streams, fault) ? streams : std::filesystem::path(directory));
}

// One source after its first look: whose log it is and what it holds of others.
struct Source {
  std::string origin;
  std::string log;
  audit::JournalView journal;  // of a directory
  audit::HeldHeads held;
};

Result<Source> look_at_directory(const std::string& directory) {
  auto files = files_of(directory);
  OUTHAUL_TRY(journal, audit::read_journal_view(files));
  Source source;
  source.origin = directory;
  source.log = audit::find_log_name(files, journal);
  const bool has_log = !source.log.empty() || journal.mark;
  if (!has_log) return fail(ErrorCode::not_found, directory + ": no audit log here");
  source.held = {source.log, journal.witnesses};
  source.journal = std::move(journal);
  return source;
}

Result<Source> look_at_bundle(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes front;
  while (file) {
    Bytes piece(read_bytes, '\0');
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    front.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    OUTHAUL_TRY(parsed, audit::parse_bundle_head(front));
    if (!parsed) continue;
    const auto log = parsed->head.log;
    return Source{path, log, {}, {log, std::move(parsed->head.witnesses)}};
  }
  return fail(ErrorCode::invalid, path + ": not an audit bundle, or it cannot be read");
}

Result<audit::LogReport> verify_bundle(const std::string& path, std::vector<audit::Witnessed> witnessed) {
  audit::BundleVerifier verifier(std::move(witnessed), {});
  std::ifstream file(path, std::ios::binary);
  while (file) {
    Bytes piece(read_bytes, '\0');
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    OUTHAUL_CHECK(verifier.feed(ByteView(piece).substr(0, static_cast<std::size_t>(file.gcount()))));
  }
  OUTHAUL_CHECK(verifier.finish());
  return verifier.report();
}

json::array places_json(const std::vector<audit::Finding>& findings) {
  json::array list;
  for (const auto& finding : findings) {
    list.push_back(json::object{{"file", finding.file},
                                {"offset", finding.offset},
                                {"sequence", finding.sequence},
                                {"what", finding.what}});
  }
  return list;
}

json::object report_json(const audit::LogReport& report) {
  json::object object;
  object["log"] = report.log;
  object["whole"] = report.is_whole();
  object["records"] = report.tip.sequence;
  object["entries"] = report.entries;
  object["checkpoints"] = report.checkpoints;
  object["unsigned_records"] = report.unsigned_records;
  object["witnessed_until"] = report.witnessed_until;
  object["signer"] = key_fingerprint(report.public_key);
  object["head"] = to_hex(report.tip.hash);
  object["findings"] = places_json(report.findings);
  object["notices"] = places_json(report.notices);
  return object;
}

void print_places(const char* word, const std::vector<audit::Finding>& findings) {
  for (const auto& finding : findings) {
    const auto place = finding.file.empty()
                           ? std::string("the log")
                           : fmt::format("{} offset {}", shown(finding.file), finding.offset);
    std::fputs(fmt::format("  {:<6} {}, record {}: {}\n", word, place, finding.sequence, shown(finding.what))
                   .c_str(),
               stdout);
  }
}

void print_report(const audit::LogReport& report) {
  std::fputs(fmt::format("{}: {}; {} records, {} entries, {} checkpoints\n", shown(report.log),
                         report.is_whole() ? "whole" : "NOT WHOLE", report.tip.sequence, report.entries,
                         report.checkpoints)
                 .c_str(),
             stdout);
  if (!report.public_key.empty())
    std::fputs(fmt::format("  signed by {}\n", key_fingerprint(report.public_key)).c_str(), stdout);
  if (report.witnessed_until > 0)
    std::fputs(fmt::format("  confirmed by others up to record {}\n", report.witnessed_until).c_str(),
               stdout);
  if (report.unsigned_records > 0)
    std::fputs(fmt::format("  the last {} records are not signed yet\n", report.unsigned_records).c_str(),
               stdout);
  print_places("FAULT", report.findings);
  print_places("note", report.notices);
}

}  // namespace

std::string key_fingerprint(ByteView public_key) {
  return public_key.empty() ? std::string() : "sha256:" + crypto::sha256_hex(public_key);
}

void compare_keys(audit::LogReport& report, const std::vector<std::string>& keys) {
  if (keys.empty() || std::ranges::find(keys, key_fingerprint(report.public_key)) != keys.end()) return;
  report.findings.push_back({"", 0, 1, "it is signed by another key than was given"});
}

Result<std::vector<audit::LogReport>> verify_sources(const VerifySources& sources) {
  std::vector<Source> looked_at;
  std::vector<audit::HeldHeads> held;
  for (const auto& directory : sources.directories) {
    OUTHAUL_TRY(source, look_at_directory(directory));
    held.push_back(source.held);
    looked_at.push_back(std::move(source));
  }
  for (const auto& bundle : sources.bundles) {
    OUTHAUL_TRY(source, look_at_bundle(bundle));
    held.push_back(source.held);
    looked_at.push_back(std::move(source));
  }
  std::vector<audit::LogReport> reports;
  for (std::size_t i = 0; i < looked_at.size(); ++i) {
    const auto& source = looked_at[i];
    auto witnessed = audit::heads_of(source.log, held);
    if (i < sources.directories.size()) {
      auto files = files_of(source.origin);
      OUTHAUL_TRY(report, audit::check_log(files, source.journal, {source.log, {}, std::move(witnessed)}));
      reports.push_back(std::move(report));
    } else {
      OUTHAUL_TRY(report, verify_bundle(source.origin, std::move(witnessed)));
      reports.push_back(std::move(report));
    }
    compare_keys(reports.back(), sources.keys);
  }
  return reports;
}

int print_reports(const std::vector<audit::LogReport>& reports, bool as_json) {
  const bool is_whole = std::ranges::all_of(reports, &audit::LogReport::is_whole);
  if (as_json) {
    json::array logs;
    for (const auto& report : reports) logs.push_back(report_json(report));
    print_json(json::object{{"whole", is_whole}, {"logs", std::move(logs)}});
  } else {
    for (const auto& report : reports) print_report(report);
  }
  return is_whole ? exit_code::done : exit_code::failed;
}

}  // namespace outhaul::cli
