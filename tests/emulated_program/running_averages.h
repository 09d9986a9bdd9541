// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds a deadlock of NCCL in a process with several GPUs: a GPU that allocates or records graphs can wait for averages
// of the other GPUs, which wait for this one.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "core/error.h"

namespace roentgen::e2e {

/// Counts its objects. Thread-safe.
template <typename Name>
class Counted {
 public:
  Counted() { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  /// Number of objects in this process.
  [[nodiscard]] static int count() { return count_; }

 private:
  static inline std::atomic<int> count_ = 0;
};
/// An average that a GPU of this process has queued and not finished.
using RunningAverage = Counted<struct AverageName>;
/// A GPU of this process that averages by NCCL.
using NcclCard = Counted<struct CardName>;

/// Throws DeviceError if a process with several GPUs has unfinished averages.
inline void require_no_average(std::string_view what) {
  if (NcclCard::count() < 2 || RunningAverage::count() == 0) return;
  throw DeviceError(error_text("emulated.nccl", what, "no unfinished average of this process", "one"));
}

}  // namespace roentgen::e2e
