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

/// A span of time. Times are nanoseconds of this process's steady clock.
struct Span {
  /// A literal.
  const char* name = "";
  /// Number of the step or bucket; negative: not numbered.
  std::int64_t index = -1;
  std::int64_t begin_ns = 0;  ///< start
  std::int64_t end_ns = 0;    ///< end
  /// Start of a collective; begin_ns is the time of its request. Only for collectives, whose spans may overlap; -1:
  /// none.
  std::int64_t started_ns = -1;
  /// Number of a collective, equal on all ranks.
  std::int64_t ticket = -1;
  std::int64_t bytes = 0;  ///< bytes of a message; 0: no message

  [[nodiscard]] bool is_collective() const { return ticket >= 0; }  ///< whether the span is a collective
};

/// Thread-safe.
class Timeline {
 public:
  /// @param most spans that are kept; those beyond are counted
  explicit Timeline(std::size_t most = 200'000);

  /// Nanoseconds of the steady clock.
  [[nodiscard]] static std::int64_t now_ns();

  /// Starts or stops recording, for spans that begin from now on.
  void record(bool is_recording) { is_recording_.store(is_recording, std::memory_order_relaxed); }
  /// Whether new spans are recorded.
  [[nodiscard]] bool is_recording() const { return is_recording_.load(std::memory_order_relaxed); }

  void add(const Span& span);  ///< keeps a span, or counts it
  /// Passes every recorded span to `keep`, one at a time: earlier spans at once, later ones when they are recorded.
  /// null: stops this.
  void also_to(std::function<void(const Span&)> keep);
  /// Spans in order of their ends.
  [[nodiscard]] std::vector<Span> spans() const;
  /// Spans beyond `most`.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  const std::size_t most_;
  std::atomic<bool> is_recording_ = true;
  mutable Mutex mutex_;
  std::vector<Span> spans_ RG_GUARDED_BY(mutex_);
  std::int64_t dropped_ RG_GUARDED_BY(mutex_) = 0;
  std::function<void(const Span&)> keep_ RG_GUARDED_BY(mutex_);
};

/// Records its scope as a span of `timeline`. Does nothing with null, or where the timeline is not recording.
class TimedScope {
 public:
  /// @param name a literal
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
