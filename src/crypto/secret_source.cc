#include "crypto/secret_source.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "crypto/data_files.h"

namespace outhaul::crypto {
namespace {

constexpr std::size_t max_secret_bytes = 4096;
constexpr const char* variable_name = "OUTHAUL_TOKEN";

Secret trimmed(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  return Secret(last == text.npos ? std::string() : std::string(text.substr(0, last + 1)));
}

// Typed or pasted text is not shown while this lives.
class Unseen {
 public:
  Unseen() {
    is_set_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!is_set_) return;
    auto quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
  }
  ~Unseen() {
    if (!is_set_) return;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    std::fputs("\n", stderr);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  bool is_terminal() const { return is_set_; }

 private:
  termios before_{};
  bool is_set_ = false;
};

Secret read_line(const std::string& what) {
  const Unseen unseen;
  if (unseen.is_terminal()) std::fputs((what + ": ").c_str(), stderr);
  std::string line;
  std::getline(std::cin, line);
  return trimmed(line);
}

}  // namespace

Result<Secret> read_secret(const SecretSource& source) {
  if (!source.file.empty()) {
    OUTHAUL_TRY(text, read_private_file(source.file, max_secret_bytes));
    return trimmed(text.reveal_for("trimming"));
  }
  if (!source.option.empty() && source.option != "-") return Secret(source.option);
  const char* const variable = std::getenv(variable_name);
  if (source.option.empty() && variable != nullptr && *variable != '\0') return trimmed(variable);
  auto line = read_line(source.what);
  if (!line.reveal_for("a look whether it is there").empty()) return std::move(line);
  return fail(ErrorCode::invalid, "no " + source.what +
                                      ": give it on standard input, in --token-file F or in the variable " +
                                      variable_name);
}

}  // namespace outhaul::crypto
