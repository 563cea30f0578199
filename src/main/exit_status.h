// Exit statuses of the programs that keep running, besides 0 and 1.
#pragma once

namespace outhaul {

// A disk failed under a program that served: whoever keeps it should start it again, and it then reads what
// is really there. Of sysexits.h: EX_IOERR.
inline constexpr int disk_failed_status = 74;

// The hub has removed this node, and what ran there was ended: starting it again changes nothing. Of
// sysexits.h: EX_NOPERM.
inline constexpr int node_removed_status = 77;

}  // namespace outhaul
