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

/// Division of a bucket among ranks, and an order of its values by ranks. Each segment of a bucket (the last may be
/// shorter) has one share per rank, as in dist::Share. In the order of ranks, the shares of rank r begin at value
/// r * stride, in the order of segments, without gaps. So a rank's shares are one message.
struct RankShares {
  std::size_t segment = 1;  ///< number of values of a segment
  int ranks = 1;
  std::size_t stride = 0;  ///< at least the number of values of any rank
};

/// Work of WireKernels::mean_of_ranks(). All memory belongs to the device of the stream.
struct RankMean {
  DType wire = DType::Bf16;    ///< type of `received` and `mean`: Bf16 or F16
  DeviceSpan<float> bucket{};  ///< values of this rank, which were not rounded
  RankShares shares{};         ///< division of `bucket`
  int rank = 0;                ///< this rank; the mean is computed of its shares only
  /// Shares of this rank as the other ranks sent them, in ascending order of ranks: those of the k-th begin at value
  /// k * stride.
  DeviceSpan<std::uint16_t> received{};
  float factor = 1.0F;               ///< 1 / number of ranks
  DeviceSpan<std::uint16_t> mean{};  ///< result: the shares of this rank, without gaps
};

/// Kernels of one kind of device. Each call queues one kernel on a stream and returns. `wire` is Bf16 or F16; f32
/// values are rounded to nearest, ties to even. Memory in the order of ranks has shares.ranks * shares.stride values;
/// gaps between ranks are neither read nor written. Thread-safe. Functions throw DeviceError if the device refuses the
/// work.
class WireKernels {
 public:
  virtual ~WireKernels() = default;
  /// Rounds a bucket to 16 bits, in the order of ranks.
  virtual void narrow(Stream& stream, DType wire, DeviceSpan<float> bucket, DeviceSpan<std::uint16_t> by_ranks,
                      const RankShares& shares) const = 0;
  /// Converts 16-bit values in the order of ranks to f32, which is exact.
  virtual void widen(Stream& stream, DType wire, DeviceSpan<std::uint16_t> by_ranks, DeviceSpan<float> bucket,
                     const RankShares& shares) const = 0;
  /// Sums the shares of this rank over all ranks in f32, in the order of ranks, multiplies the sum by `factor` and
  /// rounds it once.
  virtual void mean_of_ranks(Stream& stream, const RankMean& work) const = 0;
};

}  // namespace roentgen::runtime
