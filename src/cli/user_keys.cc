#include "cli/user_keys.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/remedy.h"
#include "cli/context.h"
#include "crypto/data_files.h"
#include "wire/target.h"

namespace outhaul::cli {

Result<std::string> user_key_path(const std::string& name) {
  // The rule of all our names; here it also keeps a name from being a path.
  if (!wire::Target::make(wire::TargetKind::tool, name)) {
    return fail(ErrorCode::invalid,
                "the name of a key is 1 to 63 of a-z, 0-9, _ and -, from a letter to a letter or digit");
  }
  const std::filesystem::path contexts = ContextFile::default_path();
  if (contexts.empty())
    return fail(ErrorCode::config_invalid, "no place for keys: set OUTHAUL_CONFIG or HOME");
  return (contexts.parent_path() / "keys" / (name + ".pem")).string();
}

Result<crypto::SigningKey> create_user_key(const std::string& name, Random& random) {
  OUTHAUL_TRY(path, user_key_path(name));
  std::error_code ignored;  // the write below says what is wrong
  const auto directory = std::filesystem::path(path).parent_path();
  if (std::filesystem::create_directories(directory, ignored))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, ignored);
  auto key = crypto::SigningKey::generate(random);
  const auto pem = key.pem();
  const auto written = crypto::create_private_file(path, pem.reveal_for("the person's key file"));
  if (written) return key;
  if (written.error().code() != ErrorCode::identity_exists) return fail(written.error());
  Error exists(ErrorCode::identity_exists, fmt::format("there is a key named {} already: {}", name, path));
  return fail(with_remedy(std::move(exists), "Use it, or make another: `outhaul key create --name NAME`."));
}

Result<crypto::SigningKey> load_user_key(const std::string& name) {
  OUTHAUL_TRY(path, user_key_path(name));
  const auto pem = crypto::read_private_file(path, crypto::SigningKey::max_pem_bytes);
  if (pem) return crypto::SigningKey::parse_pem(*pem);
  if (pem.error().code() != ErrorCode::not_found) return fail(pem.error());
  Error missing(ErrorCode::not_found, fmt::format("there is no key of yours named {} here: {}", name, path));
  return fail(with_remedy(std::move(missing),
                          "Make one: `outhaul key create`, then `outhaul key add`, and give its line to the "
                          "node's owner."));
}

}  // namespace outhaul::cli
