// Contexts: which hub a person's commands speak to, and as whom. One private YAML file, at
// $OUTHAUL_CONFIG, else $XDG_CONFIG_HOME/outhaul/config.yaml, else ~/.config/outhaul/config.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/secret.h"

namespace outhaul::cli {

struct Context {
  std::string name;
  std::string url;             // https://host:port
  Secret token;                // an API token; the file is mode 0600
  std::string ca_fingerprint;  // sha256:<hex>: the only CA this context trusts
  bool signs = false;          // `outhaul run` signs with the person's key unless it is told not to
};

class ContextFile {
 public:
  // The path by the rules above; empty when neither variable nor home directory is known.
  static std::string default_path();
  // An absent file gives an empty set. Fails with config_invalid (line and key named) or
  // file_permissions_loose.
  static Result<ContextFile> load(std::string path);
  // The pure part of load(); `origin` names the file in messages.
  static Result<ContextFile> parse(std::string_view text, std::string origin);

  // Replaces the file at once; mode 0600.
  Result<void> save() const;
  // What save() writes.
  Secret text() const;

  const std::vector<Context>& contexts() const { return contexts_; }
  const std::string& current() const { return current_; }
  // The context of this name, or the current one for an empty name.
  const Context* find(std::string_view name) const;
  // Adds it, or replaces the one of the same name, and makes it current. One that signs goes on signing.
  void put(Context context);
  bool use(std::string_view name);
  // Whether runs in this context are signed from now on; false for an unknown name.
  bool set_signs(std::string_view name, bool signs);
  bool remove(std::string_view name);
  const std::string& path() const { return path_; }
  // The same but for the tokens, which are never copied: for a comparison later.
  ContextFile outline() const;

 private:
  std::string path_;
  std::string current_;
  std::vector<Context> contexts_;
};

// What a person must know when `before` became `now`: that commands go elsewhere, and the way back. Lines
// without a prefix; none when nothing changed for them.
std::vector<std::string> change_lines(const ContextFile& before, const ContextFile& now);

}  // namespace outhaul::cli
