// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Prefetching for matrix products. While a core computes, memory is idle; when it reads uncached data, it waits.
// Prefetching everything at once would wait as well. So products prefetch a few lines at a time, in address order,
// which the hardware prefetcher continues.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/cpu/simd/claim.h"

namespace roentgen::engine::cpu::simd {

/// Size of a cache line in bytes.
constexpr std::int64_t kLine_bytes = 64;

/// Consecutive cache lines. `first` is an address in the first line.
struct CacheLines {
  const void* first = nullptr;
  std::int64_t count = 0;
  bool is_written = false;  ///< true: the lines are claimed for writing (claim.h), not read
};

/// Prefetches ranges of memory, one after another, into the L2 cache, or claims them. Not thread-safe. It calls no
/// functions, because a call in a loop would spill all vector registers.
class Fetching {
 public:
  /// Prefetches nothing.
  Fetching() = default;
  /// Prefetches all ranges by the time that step() has counted `units` units of work. `ranges` must outlive this
  /// object.
  Fetching(std::span<const CacheLines> ranges, std::int64_t units)
      : range_(ranges.data()), end_range_(ranges.data() + ranges.size()), units_(std::max<std::int64_t>(1, units)) {
    for (const CacheLines& range : ranges) lines_ += range.count;
  }

  /// Counts `units` units of finished work and prefetches the lines that are due.
  void step(std::int64_t units) {
    for (due_ += units * lines_; due_ >= units_; due_ -= units_) {
      while (next_ == end_) {
        if (range_ == end_range_) {
          lines_ = due_ = 0;
          return;
        }
        next_ = static_cast<const char*>(range_->first);
        end_ = next_ + range_->count * kLine_bytes;
        is_written_ = range_->is_written;
        ++range_;
      }
      if (is_written_) {
        claim(next_);
      } else {
        __builtin_prefetch(next_, 0, 2);
      }
      next_ += kLine_bytes;
      ++fetched_;
    }
  }
  /// Number of lines prefetched so far.
  [[nodiscard]] std::int64_t lines_fetched() const { return fetched_; }

 private:
  const CacheLines* range_ = nullptr;
  const CacheLines* end_range_ = nullptr;
  std::int64_t lines_ = 0, units_ = 1, due_ = 0, fetched_ = 0;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  bool is_written_ = false;
};

}  // namespace roentgen::engine::cpu::simd
