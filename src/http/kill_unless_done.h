// KillUnlessDone: a write that is cancelled in the middle leaves half a message; nothing may follow it.
#pragma once

#include "http/connection.h"

namespace outhaul::http {

class KillUnlessDone {
 public:
  explicit KillUnlessDone(Connection& connection) : connection_(connection) {}
  KillUnlessDone(const KillUnlessDone&) = delete;
  KillUnlessDone& operator=(const KillUnlessDone&) = delete;
  ~KillUnlessDone() {
    if (!is_done_) connection_.kill();
  }
  void done() { is_done_ = true; }

 private:
  Connection& connection_;
  bool is_done_ = false;
};

}  // namespace outhaul::http
