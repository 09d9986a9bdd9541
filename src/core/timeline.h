// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Timeline: records a process's work as spans of time, for a trace. Recording is off unless requested: code with no
// timeline, or one that is not recording, reads no clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/thread_annotations.h"

namespace roentgen {

/// Recorded time span of an activity. Times are nanoseconds of this process's steady clock.
struct Span {
  /// Name, a string literal.
  const char* name = "";
  /// Number of the step or bucket; negative if there is none.
  std::int64_t index = -1;
  std::int64_t begin_ns = 0;  ///< start time
  std::int64_t end_ns = 0;    ///< end time
  /// Time at which a collective started; begin_ns is then the time of its request. Spans of collectives may overlap. -1
  /// for other spans.
  std::int64_t started_ns = -1;
  /// Number of the collective, equal on all ranks; -1 for other spans.
  std::int64_t ticket = -1;
  std::int64_t bytes = 0;  ///< bytes of a message; 0 if there is none

  [[nodiscard]] bool is_collective() const { return ticket >= 0; }  ///< true if the span is a collective
};

/// Recorder of time spans. Thread-safe.
class Timeline {
 public:
  /// @param most largest number of spans to keep; further spans are only counted
  explicit Timeline(std::size_t most = 200'000);

  /// Current time of the steady clock in nanoseconds.
  [[nodiscard]] static std::int64_t now_ns();

  /// Starts or stops the recording of spans that begin from now on.
  void record(bool is_recording) { is_recording_.store(is_recording, std::memory_order_relaxed); }
  /// True if new spans are recorded.
  [[nodiscard]] bool is_recording() const { return is_recording_.load(std::memory_order_relaxed); }

  void add(const Span& span);  ///< stores a span, or only counts it if there are too many
  /// Calls `keep` for every span: now for spans that are already recorded, and later for each new one. A null `keep`
  /// ends these calls.
  void also_to(std::function<void(const Span&)> keep);
  /// Recorded spans, in the order of their ends.
  [[nodiscard]] std::vector<Span> spans() const;
  /// Number of spans that were not stored, because there were more than `most`.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  const std::size_t most_;
  std::atomic<bool> is_recording_ = true;
  mutable Mutex mutex_;
  std::vector<Span> spans_ RG_GUARDED_BY(mutex_);
  std::int64_t dropped_ RG_GUARDED_BY(mutex_) = 0;
  std::function<void(const Span&)> keep_ RG_GUARDED_BY(mutex_);
};

/// Records the time from its construction to its destruction as a span of `timeline`. Does nothing if `timeline` is
/// null or does not record.
class TimedScope {
 public:
  /// @param name string literal
  explicit TimedScope(Timeline* timeline, const char* name, std::int64_t index = -1)
      : timeline_(timeline != nullptr && timeline->is_recording() ? timeline : nullptr) {
    if (timeline_ != nullptr) span_ = {.name = name, .index = index, .begin_ns = Timeline::now_ns()};
  }
  TimedScope(const TimedScope&) = delete;
  TimedScope& operator=(const TimedScope&) = delete;
  ~TimedScope() {
    if (timeline_ == nullptr) return;
    span_.end_ns = Timeline::now_ns();
    timeline_->add(span_);
  }

 private:
  Timeline* timeline_;
  Span span_;
};

}  // namespace roentgen
