// What a program says when it cannot start or go on.
#pragma once

#include <string_view>

#include "base/error.h"

namespace outhaul {

// On standard error: the fault and its code, each detail on a line, and what to do. Gives exit status 1.
int report_fault(std::string_view program, const Error& error);

}  // namespace outhaul
