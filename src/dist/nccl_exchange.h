// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclExchange: average of a gradient bucket by messages of 16 bits between devices. It divides a bucket like the
// algorithm `exchange` (reduce/exchange.cpp), and rounds and sums in the same order. So it gives the same bits, except
// that NaN may be another NaN.
//
// Steps on a stream, in this order; the caller waits between them until NCCL has queued the messages:
//   send_parts()     rounds the bucket; each rank receives its own share from all ranks
//   send_means()     sums the share in f32 and rounds the mean; each rank receives all means
//   receive_means()  converts the means to f32
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/shape.h"
#include "dist/nccl_calls.h"
#include "dist/reduce/schedule.h"
#include "runtime/stream.h"
#include "runtime/wire_kernels.h"

namespace roentgen::dist {

/// Options of an NcclExchange; they must be equal on all ranks, except `rank`.
struct NcclExchangeOptions {
  int rank = 0;
  int ranks = 1;
  DType wire = DType::Bf16;  ///< Bf16 or F16
  std::size_t segment = 1;   ///< ReduceOptions::segment
  std::size_t most = 0;      ///< number of values of the largest bucket
};

/// Averages buckets one after another on one stream. Used only by the communicator's thread. Functions throw CommError
/// or DeviceError.
class NcclExchange {
 public:
  /// Allocates about 4 bytes of device memory per value of the largest bucket, equally on all ranks. Device and kernels
  /// must outlive this object. Each step sends at most one message to each other rank.
  NcclExchange(runtime::Device& device, const runtime::WireKernels& kernels, const NcclExchangeOptions& options);

  /// Type of the values in messages.
  [[nodiscard]] DType wire() const { return options_.wire; }
  /// @param data bucket of at most NcclExchangeOptions::most values, the same in all three steps
  void send_parts(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream);
  void send_means(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream);
  void receive_means(runtime::DeviceSpan<float> data, runtime::Stream& stream) const;

 private:
  /// Number of values of a bucket of `count` values that belong to a rank.
  [[nodiscard]] std::size_t size_of(int rank, std::size_t count) const;
  /// Memory of 16-bit values. The bucket in the order of ranks comes first, then the shares of this rank as the other
  /// ranks sent them. Each rank has shares_.stride values in both.
  [[nodiscard]] runtime::DeviceSpan<std::uint16_t> halves(int place, std::size_t count) const;

  const NcclExchangeOptions options_;
  const runtime::WireKernels& kernels_;
  runtime::RankShares shares_;
  std::unique_ptr<runtime::DeviceBuffer> memory_;
  std::vector<NcclMessage> sends_, receives_;
};

}  // namespace roentgen::dist
