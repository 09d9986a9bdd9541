// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// WireKernels: kernels that convert gradients of a device to and from messages of 16 bits, and sum them over ranks. An
// engine implements them; module dist queues them between its messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::runtime {

/// Work of WireKernels::mean_of_ranks(). All memory belongs to the device of the stream.
struct RankMean {
  DType wire = DType::Bf16;  ///< type of `received` and `mean`: Bf16 or F16
  DeviceSpan<float> own{};   ///< values of this rank, which were not rounded
  /// Values of the other ranks, in ascending order of ranks: value i of the k-th has index k * stride + i.
  DeviceSpan<std::uint16_t> received{};
  std::size_t stride = 0;
  int others = 0;                    ///< number of other ranks
  int own_at = 0;                    ///< number of other ranks that are added before this rank's values
  float factor = 1.0F;               ///< 1 / number of ranks
  DeviceSpan<std::uint16_t> mean{};  ///< result; as many values as `own`
};

/// Kernels of one kind of device. Each call queues work on a stream and returns. `wire` is Bf16 or F16; f32 values are
/// rounded to nearest, ties to even. Source and result have the same number of values. Thread-safe. Functions throw
/// DeviceError if the device refuses the work.
class WireKernels {
 public:
  virtual ~WireKernels() = default;
  /// Rounds values to 16 bits.
  virtual void narrow(Stream& stream, DType wire, DeviceSpan<float> src, DeviceSpan<std::uint16_t> dst) const = 0;
  /// Converts 16-bit values to f32, which is exact.
  virtual void widen(Stream& stream, DType wire, DeviceSpan<std::uint16_t> src, DeviceSpan<float> dst) const = 0;
  /// Sums the values of all ranks in f32, in the order of ranks, multiplies the sum by `factor` and rounds it once.
  virtual void mean_of_ranks(Stream& stream, const RankMean& work) const = 0;
};

}  // namespace roentgen::runtime
