// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// MachineSpeed: time of a fixed piece of work that depends on the machine alone, and on no kernel of the engine. It
// shows changes that no counter shows, such as clocks and neighbours of a virtual machine. peak.h has the limits of the
// machine.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/aligned_buffer.h"

namespace roentgen::bench {

/// Times of the fixed work, seconds.
struct SpeedSample {
  double compute_s = 0.0;  ///< 12 chains of 4 multiplications and additions, in registers of each thread
  double copy_s = 0.0;     ///< a copy in memory, divided among the threads
};

/// Measures the fixed work on all compute threads. For use by one thread, whose OpenMP team it uses.
class MachineSpeed {
 public:
  /// Allocates the memory of the copy: 8 MiB for each thread, and at least 256 MiB for all ranks of a host together. So
  /// it exceeds the caches of most machines.
  /// @param threads number of compute threads, at least 1
  /// @param local_ranks number of ranks on this host, which sample at the same time, at least 1
  explicit MachineSpeed(int threads, int local_ranks = 1);

  /// Repeats each kind of work five times and returns the fastest time, which other processes disturbed least. A
  /// repetition takes as long as its slowest thread. On an idle machine, the call takes less than 0.1 s. Throws
  /// DeviceError if a result is wrong.
  [[nodiscard]] SpeedSample measure();
  [[nodiscard]] std::size_t bytes() const { return from_.size() + to_.size(); }  ///< size of its memory

 private:
  /// Time of each thread, seconds, and the sum that it computed.
  std::vector<double> thread_s_;
  std::vector<double> sums_;
  runtime::AlignedBuffer from_;
  runtime::AlignedBuffer to_;
};

}  // namespace roentgen::bench
