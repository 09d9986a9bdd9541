// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Peak: the FLOP/s and the memory bandwidth that a device reaches with the engine's own kernels.
#pragma once

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Measured limits of a device. A product of matrices gives FLOP/s, and ReLU over up to 128 MiB gives the bandwidth of
/// a copy, bytes read and written. Both are the fastest of several runs.
struct Peak {
  double gflops = 0.0;    ///< 1e9 floating-point operations per second
  double gb_per_s = 0.0;  ///< 1e9 bytes per second
};

/// Measures the limits with the device, threads and dtype of `options`, in about a second and with 0.5 GiB of memory.
/// Throws DeviceError if a kernel computes wrong values.
[[nodiscard]] Peak measure_peak(const NetworkOptions& options);

/// Adds the entry `peak` to a result of training steps: {gflops, gb_per_s, share_of_flops}. share_of_flops is the rate
/// of the whole step relative to the peak. Each row of the table `profile` gets `of_peak`: the larger of its shares of
/// both limits, or null. Shares can exceed 1. Winograd's algorithm needs fewer operations than are counted, and small
/// values stay in caches.
/// @param flops operations of one step
/// @param step_s time of one step
void add_share_of_peak(Value& result, const Peak& peak, double flops, double step_s);

/// Adds the entry `peak` to a result with images_per_s, gflop_per_image and ranks (none: 1): {gflops, gb_per_s,
/// share_of_flops}. Rows of `points` get share_of_flops instead. The share is that of all ranks, each with the limits
/// `peak`. It is null if ranks share cores or several hosts computed.
void add_share_of_peak(Value& result, const Peak& peak);

}  // namespace roentgen::bench
