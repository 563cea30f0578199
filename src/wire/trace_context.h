// TraceContext: the W3C traceparent that every message which starts or reports work carries.
//   source  https://www.w3.org/TR/trace-context/#traceparent-header
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace outhaul::wire {

class TraceContext {
 public:
  static constexpr std::size_t text_bytes = 55;

  // A fresh trace with its first span.
  static TraceContext make(Random& random, bool is_sampled = true);
  // Reads version 00, and of a later version the part that 00 knows. Fails with `invalid`: upper case, a
  // zero trace or span id, version ff, another length. Never repeats `text`.
  static Result<TraceContext> parse(std::string_view text);
  // The same trace, another span: what a callee hands on.
  TraceContext child(Random& random) const;

  std::string text() const;                                  // always version 00
  const std::string& trace_id() const { return trace_id_; }  // 32 hexadecimal digits
  const std::string& span_id() const { return span_id_; }    // 16
  bool is_sampled() const { return is_sampled_; }
  bool operator==(const TraceContext&) const = default;

 private:
  TraceContext(std::string trace_id, std::string span_id, bool is_sampled)
      : trace_id_(std::move(trace_id)), span_id_(std::move(span_id)), is_sampled_(is_sampled) {}
  std::string trace_id_;
  std::string span_id_;
  bool is_sampled_ = false;
};

}  // namespace outhaul::wire
