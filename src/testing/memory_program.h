// MemoryProgram: a program of the fake launcher, as a list of steps that take simulated time.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace outhaul::testing {

struct MemoryStep {
  enum class Kind {
    out,  // prints `text`
    err,
    fill,  // prints `amount` bytes of a fixed pattern to standard output
    wait,  // `span`
    cat,   // copies standard input to standard output until its end
    ignore_term,
    signal,  // dies by signal `amount`
    exit,    // with code `amount`
  };
  Kind kind = Kind::exit;
  std::string text;
  std::uint64_t amount = 0;
  Duration span{0};
};
using MemoryProgram = std::vector<MemoryStep>;

// Words: `out=TEXT err=TEXT fill=BYTES wait=DURATION cat ignore-term signal=N exit=N`. Without exit or
// signal at the end the program exits with 0. Fails with `invalid` for any other word.
Result<MemoryProgram> read_program(const std::vector<std::string>& words);

// The byte at `offset` of what `fill` prints.
inline char fill_byte(std::uint64_t offset) { return static_cast<char>('a' + offset * 7 % 26); }

}  // namespace outhaul::testing
