// Exit statuses of the programs that keep running, besides 0 and 1.
#pragma once

namespace outhaul {

// A disk failed under a program that served: whoever keeps it should start it again, and it then reads what
// is really there. Of sysexits.h: EX_IOERR.
inline constexpr int disk_failed_status = 74;

}  // namespace outhaul
