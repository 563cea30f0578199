#include "policy/shell_syntax.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace outhaul::policy {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_word(char c) { return std::string_view(" \t\n;&|<>()").contains(c); }
bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_name_start(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

// After `$`.
bool begins_expansion(char c) {
  return is_name_char(c) || (c != '\0' && std::string_view("@*#?-$!({").contains(c));
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_assignment(const ShellWord& word) {
  const auto name = std::string_view(word.text).substr(0, word.plain_bytes);
  if (name.empty() || !is_name_start(name.front())) return false;
  const auto end = std::ranges::find_if_not(name, is_name_char);
  return end != name.end() && *end == '=';
}

// Where a list of commands ends.
enum class Until { end, parenthesis, branch };

struct HereDocument {
  std::string delimiter;
  bool is_literal = false;  // a quoted delimiter: nothing in the text is expanded
  bool strips_tabs = false;
};

// What is being read at one level of nesting.
struct Level {
  SimpleCommand command;
  std::vector<HereDocument> documents;
  bool is_after_compound = false;
};

// Counts how deep the parser stands in itself.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(++depth) {}
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

class Parser {
 public:
  Parser(std::string_view text, ShellSyntax& into, int depth) : text_(text), into_(into), depth_(depth) {}

  void read_line() { read_list(Until::end); }
  // As in double quotes, up to the end of the text.
  void read_expansions() {
    ShellWord word;
    while (!is_done()) read_quoted_char(word);
  }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  bool is_done() const { return fault_ || at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(std::string_view expected) {
    if (is_done() || !text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  void refuse(std::string_view why) {
    if (!fault_) fault_ = "byte " + std::to_string(at_) + ": " + std::string(why);
  }

  void skip_blanks();
  void read_list(Until until);
  bool read_separator(Until until);
  void read_parenthesis();
  void end_command();
  void read_redirection();
  void read_here_document_head();
  void read_here_documents();
  std::string read_here_document_text(const HereDocument& document);
  bool read_token(Until until);
  bool take_reserved(const ShellWord& word, Until until);
  void read_for();
  void read_case();
  bool read_pattern();
  void take_word(ShellWord word);
  bool take_function(const ShellWord& word);
  ShellWord read_word();
  void read_unquoted_char(ShellWord& word);
  static void note_expansion(ShellWord& word, bool is_quoted);
  void read_escaped(ShellWord& word);
  void read_plain_char(ShellWord& word);
  void read_single_quoted(ShellWord& word);
  void read_double_quoted(ShellWord& word);
  void read_quoted_char(ShellWord& word);
  void read_dollar(ShellWord& word, bool is_quoted);
  void read_parameter(bool is_quoted);
  void read_arithmetic();
  void read_back_quoted(bool is_quoted);
  void read_nested_list();
  void read_nested_text(const std::string& text, bool is_line);

  std::string_view text_;
  ShellSyntax& into_;
  int depth_;
  std::size_t at_ = 0;
  Level level_;
  bool has_ended_case_ = false;  // the branch that was read last ended with `esac`
  std::optional<std::string> fault_;
};

void Parser::skip_blanks() {
  while (!is_done()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (peek() == '\\' && peek(1) == '\n') {
      at_ += 2;
    } else if (peek() == '#') {
      while (!is_done() && peek() != '\n') ++at_;
    } else {
      return;
    }
  }
}

void Parser::read_list(Until until) {
  while (true) {
    skip_blanks();
    if (fault_) return;
    if (is_done()) {
      if (until != Until::end) refuse("something that was opened is not closed");
      if (!level_.documents.empty()) refuse("a here-document without its text");
      return end_command();
    }
    if (read_separator(until)) return;
  }
}

// Reads one token. True: it ended the list.
bool Parser::read_separator(Until until) {
  const char c = peek();
  if (c == '\n') {
    ++at_;
    end_command();
    read_here_documents();
    return false;
  }
  if (c == ')') {
    if (until != Until::parenthesis) refuse("a `)` that closes nothing");
    ++at_;
    if (!level_.documents.empty()) refuse("a here-document without its text");
    end_command();
    return true;
  }
  if (c == ';' && peek(1) == ';') {
    if (until != Until::branch) refuse("a `;;` outside `case`");
    at_ += 2;
    end_command();
    has_ended_case_ = false;
    return true;
  }
  if (c == ';' || c == '&' || c == '|') {
    ++at_;
    end_command();
    return false;
  }
  if (c == '(') {
    read_parenthesis();
    return false;
  }
  if (c == '<' || c == '>') {
    read_redirection();
    return false;
  }
  return read_token(until);
}

void Parser::read_parenthesis() {
  const bool is_free = level_.command.words.empty() && level_.command.assignments.empty();
  if (!is_free || level_.is_after_compound) return refuse("a `(` where no command begins");
  ++at_;
  read_nested_list();
  level_.is_after_compound = true;
}

void Parser::end_command() {
  auto command = std::exchange(level_.command, {});
  level_.is_after_compound = false;
  if (command.words.empty() && command.assignments.empty()) return;
  if (into_.commands.size() >= max_shell_commands) return refuse("too many commands");
  into_.commands.push_back(std::move(command));
}

void Parser::read_redirection() {
  if (take("<<<")) return refuse("a here-string, which not every shell knows");
  if (take("<<")) return read_here_document_head();
  at_ += peek(1) == '&' || peek(1) == '>' || peek(1) == '|' ? 2 : 1;
  if (peek() == '(') return refuse("a process substitution, which not every shell knows");
  skip_blanks();
  if (is_done() || ends_word(peek())) return refuse("a redirection without its file");
  read_word();
}

void Parser::read_here_document_head() {
  HereDocument document;
  document.strips_tabs = take("-");
  skip_blanks();
  if (is_done() || ends_word(peek())) return refuse("a here-document without its delimiter");
  const auto word = read_word();
  if (!word.is_known) return refuse("a here-document whose delimiter is an expansion");
  document.is_literal = !word.is_plain;
  document.delimiter = word.text;
  level_.documents.push_back(std::move(document));
}

void Parser::read_here_documents() {
  for (const auto& document : std::exchange(level_.documents, {})) {
    const auto text = read_here_document_text(document);
    if (!document.is_literal && !fault_) read_nested_text(text, false);
  }
}

std::string Parser::read_here_document_text(const HereDocument& document) {
  std::string text;
  while (!is_done()) {
    const auto end = std::min(text_.find('\n', at_), text_.size());
    auto line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    if (document.strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line == document.delimiter) return text;
    text.append(line).push_back('\n');
  }
  refuse("a here-document that does not end");
  return text;
}

bool Parser::read_token(Until until) {
  auto word = read_word();
  if (fault_) return false;
  const bool is_number = word.is_plain && std::ranges::all_of(word.text, is_digit);
  if (is_number && (peek() == '<' || peek() == '>')) return false;  // the descriptor of a redirection
  const bool begins = level_.command.words.empty() && level_.command.assignments.empty();
  if (begins && word.is_plain && take_reserved(word, until)) {
    return until == Until::branch && word.text == "esac";
  }
  if (level_.is_after_compound) {
    refuse("a word after the end of a compound command");
  } else if (!begins || !take_function(word)) {
    take_word(std::move(word));
  }
  return false;
}

bool Parser::take_reserved(const ShellWord& word, Until until) {
  if (is_one_of(word.text, {"if", "then", "else", "elif", "do", "while", "until", "{", "!"})) {
    level_.is_after_compound = false;
    return true;
  }
  if (is_one_of(word.text, {"fi", "done", "}"})) {
    level_.is_after_compound = true;
    return true;
  }
  if (word.text == "esac") {
    if (until != Until::branch) refuse("an `esac` outside `case`");
    end_command();
    has_ended_case_ = true;
    return true;
  }
  if (word.text == "for") {
    read_for();
    return true;
  }
  if (word.text == "case") {
    read_case();
    return true;
  }
  if (is_one_of(word.text, {"function", "select", "coproc", "[[", "alias"})) {
    refuse("a word that not every shell reads alike");
    return true;
  }
  return false;
}

void Parser::read_for() {
  skip_blanks();
  const auto name = read_word();
  if (!name.is_plain || name.text.empty()) return refuse("a `for` without its name");
  // Up to the `;` or the line end: words, in which substitutions may stand.
  while (!fault_) {
    skip_blanks();
    if (is_done() || ends_word(peek())) return;
    if (const auto word = read_word(); word.is_plain && word.text == "do") return;
  }
}

void Parser::read_case() {
  if (depth_ >= max_shell_depth) return refuse("nested too deep");
  const Deeper deeper(depth_);
  skip_blanks();
  read_word();
  const auto skip_lines = [this] {
    for (skip_blanks(); take("\n"); skip_blanks()) {
    }
  };
  skip_lines();
  if (const auto word = read_word(); !word.is_plain || word.text != "in") refuse("a `case` without `in`");
  auto outer = std::exchange(level_, {});
  for (skip_lines(); !fault_ && read_pattern(); skip_lines()) {
    read_list(Until::branch);
    if (has_ended_case_) break;
  }
  level_ = std::move(outer);
  level_.is_after_compound = true;
}

// False: the `esac` stood there instead.
bool Parser::read_pattern() {
  take("(");
  bool is_first = true;
  while (!fault_) {
    skip_blanks();
    const auto word = read_word();
    if (is_first && word.is_plain && word.text == "esac") return false;
    is_first = false;
    skip_blanks();
    if (take(")")) return true;
    if (!take("|")) refuse("a pattern of `case` that does not end");
  }
  return false;
}

void Parser::take_word(ShellWord word) {
  auto& command = level_.command;
  const bool may_assign = command.words.empty() && is_assignment(word);
  if (may_assign && peek() == '(') return refuse("an array, which not every shell knows");
  (may_assign ? command.assignments : command.words).push_back(std::move(word));
}

bool Parser::take_function(const ShellWord& word) {
  const auto mark = at_;
  skip_blanks();
  if (peek() != '(') {
    at_ = mark;
    return false;
  }
  ++at_;
  skip_blanks();
  if (!word.is_plain || !take(")")) {
    refuse("a `(` where no command begins");
    return true;
  }
  into_.functions.insert(word.text);
  return true;
}

ShellWord Parser::read_word() {
  ShellWord word;
  word.offset = at_;
  const auto begin = at_;
  while (!is_done() && !ends_word(peek())) {
    read_unquoted_char(word);
    if (word.is_plain) word.plain_bytes = word.text.size();
  }
  if (at_ == begin) refuse("a word is missing");
  const bool may_expand_braces =
      word.text.contains('{') && (word.text.contains(',') || word.text.contains(".."));
  if (may_expand_braces) word.is_known = false;
  word.may_split = word.may_split || may_expand_braces;
  return word;
}

void Parser::read_unquoted_char(ShellWord& word) {
  switch (peek()) {
    case '\'': return read_single_quoted(word);
    case '"': return read_double_quoted(word);
    case '$': return read_dollar(word, false);
    case '`': note_expansion(word, false); return read_back_quoted(false);
    case '\\': return read_escaped(word);
    default: return read_plain_char(word);
  }
}

void Parser::note_expansion(ShellWord& word, bool is_quoted) {
  word.is_known = word.is_plain = false;
  word.may_split = word.may_split || !is_quoted;
}

void Parser::read_escaped(ShellWord& word) {
  ++at_;
  if (is_done()) return refuse("a `\\` at the end");
  const char escaped = text_[at_++];
  if (escaped == '\n') return;
  word.is_plain = false;
  word.text.push_back(escaped);
}

void Parser::read_plain_char(ShellWord& word) {
  const char c = text_[at_++];
  // `[` alone is a command.
  const bool is_test = c == '[' && word.text.empty() && (is_done() || ends_word(peek()));
  const bool is_glob = c == '*' || c == '?' || (c == '[' && !is_test);
  if (is_glob || (c == '~' && word.text.empty())) note_expansion(word, false);
  word.text.push_back(c);
}

void Parser::read_single_quoted(ShellWord& word) {
  word.is_plain = false;
  const auto end = text_.find('\'', at_ + 1);
  if (end == text_.npos) return refuse("a quote that is not closed");
  word.text.append(text_.substr(at_ + 1, end - at_ - 1));
  at_ = end + 1;
}

void Parser::read_double_quoted(ShellWord& word) {
  word.is_plain = false;
  ++at_;
  while (!is_done() && peek() != '"') read_quoted_char(word);
  if (!take("\"")) refuse("a quote that is not closed");
}

void Parser::read_quoted_char(ShellWord& word) {
  const char c = peek();
  if (c == '$') return read_dollar(word, true);
  if (c == '`') {
    note_expansion(word, true);
    return read_back_quoted(true);
  }
  ++at_;
  if (c == '\\' && std::string_view("$`\"\\\n").contains(peek()) && !is_done()) {
    if (const char escaped = text_[at_++]; escaped != '\n') word.text.push_back(escaped);
    return;
  }
  word.text.push_back(c);
}

void Parser::read_dollar(ShellWord& word, bool is_quoted) {
  const char next = peek(1);
  const bool is_quote = next == '\'' || next == '"';
  if (is_quote && !is_quoted) return refuse("a `$` before a quote, which not every shell reads alike");
  if (!begins_expansion(next)) {
    ++at_;
    word.text.push_back('$');
    return;
  }
  note_expansion(word, is_quoted);
  if (take("$((")) return read_arithmetic();
  at_ += 2;
  if (next == '(') return read_nested_list();
  if (next == '{') return read_parameter(is_quoted);
  while (is_name_start(next) && !is_done() && is_name_char(peek())) ++at_;
}

// After `${`. Whether a quote in here quotes depends on what surrounds it and on the shell.
void Parser::read_parameter(bool is_quoted) {
  if (depth_ >= max_shell_depth) return refuse("nested too deep");
  const Deeper deeper(depth_);
  ShellWord ignored;
  while (!is_done() && peek() != '}') {
    const char c = peek();
    if (c == '\'' || (c == '"' && is_quoted)) {
      refuse("a quote inside `${`");
    } else if (c == '"') {
      read_double_quoted(ignored);
    } else {
      read_quoted_char(ignored);
    }
  }
  if (!take("}")) refuse("a `${` that is not closed");
}

// After `$((`. Some shells take it for a substitution that begins with a subshell when `))` does not close
// it.
void Parser::read_arithmetic() {
  if (depth_ >= max_shell_depth) return refuse("nested too deep");
  const Deeper deeper(depth_);
  ShellWord ignored;
  for (int open = 2; !is_done();) {
    const char c = peek();
    if (c == '$' || c == '`') {
      read_quoted_char(ignored);
      continue;
    }
    ++at_;
    if (c == ';' || c == '\'' || c == '"' || c == '\n')
      return refuse("arithmetic that may be a substitution");
    if (c == '(') ++open;
    if (c != ')') continue;
    if (--open == 1) {
      if (!take(")")) refuse("arithmetic that may be a substitution");
      return;
    }
  }
  refuse("a `$((` that is not closed");
}

void Parser::read_back_quoted(bool is_quoted) {
  const std::string_view escaped = is_quoted ? "$`\\\"" : "$`\\";
  std::string line;
  ++at_;
  while (!is_done() && peek() != '`') {
    if (peek() == '\\' && peek(1) != '\0' && escaped.contains(peek(1))) ++at_;
    line.push_back(text_[at_++]);
  }
  if (!take("`")) return refuse("a back quote that is not closed");
  read_nested_text(line, true);
}

void Parser::read_nested_list() {
  if (depth_ >= max_shell_depth) return refuse("nested too deep");
  const Deeper deeper(depth_);
  auto outer = std::exchange(level_, {});
  read_list(Until::parenthesis);
  level_ = std::move(outer);
}

void Parser::read_nested_text(const std::string& text, bool is_line) {
  if (depth_ >= max_shell_depth) return refuse("nested too deep");
  Parser nested(text, into_, depth_ + 1);
  if (is_line) {
    nested.read_line();
  } else {
    nested.read_expansions();
  }
  if (nested.fault()) refuse("in a text inside: " + *nested.fault());
}

}  // namespace

Result<ShellSyntax> parse_shell_line(std::string_view line, int depth) {
  ShellSyntax syntax;
  if (depth > max_shell_depth) return fail(ErrorCode::invalid, "cannot be read: lines nested too deep");
  Parser parser(line, syntax, depth);
  parser.read_line();
  if (parser.fault()) return fail(ErrorCode::invalid, "cannot be read at " + *parser.fault());
  return syntax;
}

}  // namespace outhaul::policy
