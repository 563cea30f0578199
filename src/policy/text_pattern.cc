#include "policy/text_pattern.h"

#include <memory>
#include <optional>
#include <string>

namespace outhaul::policy {
namespace {

using Step = TextPattern::Step;
using ByteSet = std::bitset<256>;

constexpr int max_depth = 64;
constexpr int max_count = 256;

// What was read, before it is counted out into steps.
struct Part {
  enum class Kind { bytes, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  ByteSet bytes;
  std::vector<Part> parts;
  int least = 1;
  int most = 1;  // -1: any number
};

void add_range(ByteSet& set, unsigned char from, unsigned char to) {
  for (unsigned byte = from; byte <= to; ++byte) set.set(byte);
}

ByteSet only(char byte) { return ByteSet().set(static_cast<unsigned char>(byte)); }

bool is_punctuation(char c) {
  const bool is_word = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9');
  return c > ' ' && c < 0x7f && !is_word;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Part> read() {
    auto part = read_choice(0);
    if (fault_.empty() && at_ < text_.size()) refuse("a `)` that closes nothing");
    if (!fault_.empty()) return fail(ErrorCode::config_invalid, fault_ + " at byte " + std::to_string(at_));
    return part;
  }

 private:
  bool is_done() const { return at_ >= text_.size() || !fault_.empty(); }
  bool take(char c) {
    if (is_done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void refuse(const char* why) {
    if (fault_.empty()) fault_ = why;
  }

  Part read_choice(int depth) {
    Part choice{.kind = Part::Kind::choice, .bytes = {}, .parts = {}};
    if (depth > max_depth) refuse("groups too deep");
    do {
      choice.parts.push_back(read_sequence(depth));
    } while (take('|'));
    return choice;
  }

  Part read_sequence(int depth) {
    Part sequence;
    while (!is_done() && text_[at_] != '|' && text_[at_] != ')') {
      sequence.parts.push_back(read_repeats(read_one(depth)));
    }
    return sequence;
  }

  Part read_one(int depth) {
    const char c = text_[at_++];
    Part part{.kind = Part::Kind::bytes, .bytes = only(c), .parts = {}};
    if (c == '(') {
      part = read_choice(depth + 1);
      if (!take(')')) refuse("a `(` that is not closed");
    } else if (c == '[') {
      part.bytes = read_class();
    } else if (c == '.') {
      part.bytes = ~only('\n');
    } else if (c == '\\') {
      part.bytes = read_escape();
    } else if (c == '*' || c == '+' || c == '?' || c == '{') {
      refuse("nothing to repeat");
    } else if (c == '^' || c == '$') {
      refuse("an anchor, which is not needed: a pattern means the whole text; write `\\` before the sign");
    }
    return part;
  }

  ByteSet read_escape() {
    ByteSet set;
    if (is_done()) {
      refuse("a `\\` at the end");
      return set;
    }
    const char c = text_[at_++];
    if (c == 'd' || c == 'w') add_range(set, '0', '9');
    if (c == 'w') {
      add_range(set, 'a', 'z');
      add_range(set, 'A', 'Z');
      set |= only('_');
    }
    if (is_punctuation(c)) set = only(c);
    if (set.none()) refuse("an unknown `\\` sequence");
    return set;
  }

  ByteSet read_class() {
    ByteSet set;
    const bool is_negated = take('^');
    bool is_first = true;
    while (!is_done() && (text_[at_] != ']' || is_first)) {
      is_first = false;
      read_class_part(set);
    }
    if (!take(']')) refuse("a `[` that is not closed");
    return is_negated ? ~set : set;
  }

  void read_class_part(ByteSet& set) {
    const char from = text_[at_++];
    if (from == '[' && at_ < text_.size() && text_[at_] == ':')
      return refuse("a named class: write out its ranges");
    if (from == '\\') {
      set |= read_escape();
      return;
    }
    const bool is_range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
    if (!is_range) {
      set |= only(from);
      return;
    }
    const char to = text_[at_ + 1];
    at_ += 2;
    if (to == '\\' || static_cast<unsigned char>(to) < static_cast<unsigned char>(from)) {
      return refuse("a range that ends before it begins");
    }
    add_range(set, static_cast<unsigned char>(from), static_cast<unsigned char>(to));
  }

  Part read_repeats(Part part) {
    while (!is_done()) {
      int least = 0, most = -1;
      if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (take('{')) {
        read_bounds(least, most);
      } else if (!take('*')) {
        return part;
      }
      Part repeat{.kind = Part::Kind::repeat, .bytes = {}, .parts = {}, .least = least, .most = most};
      repeat.parts.push_back(std::move(part));
      part = std::move(repeat);
    }
    return part;
  }

  void read_bounds(int& least, int& most) {
    least = read_number();
    most = least;
    if (take(',')) most = !is_done() && text_[at_] == '}' ? -1 : read_number();
    if (!take('}')) return refuse("a `{` that is not closed");
    if (most >= 0 && most < least) refuse("a repeat whose limits are the wrong way round");
  }

  int read_number() {
    int number = 0;
    bool is_any = false;
    while (!is_done() && '0' <= text_[at_] && text_[at_] <= '9') {
      number = number * 10 + (text_[at_++] - '0');
      is_any = true;
      if (number > max_count) refuse("a repeat of more than 256");
    }
    if (!is_any) refuse("a `{` without a number");
    return number;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

// Builds steps from the end to the front: each part is told where to go on.
class Compiler {
 public:
  std::uint32_t add(Step step) {
    if (steps.size() < TextPattern::max_steps) {
      steps.push_back(std::move(step));
    } else {
      is_full = true;
    }
    return static_cast<std::uint32_t>(steps.size() - 1);
  }

  std::uint32_t compile(const Part& part, std::uint32_t next) {
    if (is_full) return next;
    switch (part.kind) {
      case Part::Kind::bytes: return add({Step::Kind::byte, part.bytes, next, 0});
      case Part::Kind::sequence:
        for (auto each = part.parts.rbegin(); each != part.parts.rend(); ++each) next = compile(*each, next);
        return next;
      case Part::Kind::choice: {
        auto start = compile(part.parts.back(), next);
        for (std::size_t i = part.parts.size() - 1; i-- > 0;) {
          start = add({Step::Kind::split, {}, compile(part.parts[i], next), start});
        }
        return start;
      }
      case Part::Kind::repeat: return compile_repeat(part, next);
    }
    return next;
  }

  std::vector<Step> steps;
  bool is_full = false;

 private:
  std::uint32_t compile_repeat(const Part& part, std::uint32_t next) {
    const Part& body = part.parts.front();
    if (part.most < 0) {
      const auto loop = add({Step::Kind::split, {}, 0, next});
      const auto start = compile(body, loop);
      if (!is_full) steps[loop].first = start;
      next = loop;
    } else {
      for (int i = part.least; i < part.most && !is_full; ++i) {
        next = add({Step::Kind::split, {}, compile(body, next), next});
      }
    }
    for (int i = 0; i < part.least && !is_full; ++i) next = compile(body, next);
    return next;
  }
};

// The set of steps that the text read so far may have reached.
class Frontier {
 public:
  explicit Frontier(std::size_t steps) : seen_(steps, false) {}

  void clear() {
    for (const auto step : list_) seen_[step] = false;
    for (const auto step : passed_) seen_[step] = false;
    list_.clear();
    passed_.clear();
    has_match_ = false;
  }
  void reach(const std::vector<Step>& steps, std::uint32_t step) {
    pending_.push_back(step);
    while (!pending_.empty()) {
      const auto at = pending_.back();
      pending_.pop_back();
      if (seen_[at]) continue;
      seen_[at] = true;
      visit(steps[at], at);
    }
  }
  const std::vector<std::uint32_t>& list() const { return list_; }
  bool has_match() const { return has_match_; }

 private:
  void visit(const Step& step, std::uint32_t at) {
    if (step.kind == Step::Kind::byte) return list_.push_back(at);
    passed_.push_back(at);
    if (step.kind == Step::Kind::match) has_match_ = true;
    if (step.kind == Step::Kind::split) pending_.insert(pending_.end(), {step.first, step.second});
  }

  std::vector<bool> seen_;
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> passed_;
  std::vector<std::uint32_t> pending_;
  bool has_match_ = false;
};

}  // namespace

Result<TextPattern> TextPattern::parse(std::string_view pattern) {
  if (pattern.size() > max_pattern_bytes) return fail(ErrorCode::config_invalid, "a pattern over 1024 bytes");
  OUTHAUL_TRY(part, Reader(pattern).read());
  Compiler compiler;
  const auto match = compiler.add({});
  const auto start = compiler.compile(part, match);
  if (compiler.is_full)
    return fail(ErrorCode::config_invalid, "a pattern that counts out to over 2000 steps");
  return TextPattern(std::move(compiler.steps), start);
}

bool TextPattern::matches(std::string_view text) const {
  if (text.size() > max_text_bytes) return false;
  Frontier now(steps_.size()), next(steps_.size());
  now.reach(steps_, start_);
  for (const char c : text) {
    next.clear();
    for (const auto at : now.list()) {
      if (steps_[at].bytes.test(static_cast<unsigned char>(c))) next.reach(steps_, steps_[at].first);
    }
    std::swap(now, next);
    if (now.list().empty() && !now.has_match()) return false;
  }
  return now.has_match();
}

}  // namespace outhaul::policy
