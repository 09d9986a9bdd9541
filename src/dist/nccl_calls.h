// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclCalls: the part of NVIDIA's NCCL that averages gradients. The interface does not name NCCL or CUDA, so that tests
// can run on emulated devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/stream.h"

namespace roentgen::dist {

/// Identifier of an NCCL group, by which its ranks find each other (ncclUniqueId).
using NcclId = std::array<std::byte, 128>;

/// Values of 16 bits that are sent to, or received from, another rank.
struct NcclMessage {
  int rank = 0;  ///< the other rank; may be this rank
  runtime::DeviceSpan<std::uint16_t> values{};
};

/// NCCL communicator of one rank. Calls return at once; is_idle() tells when they are complete. Not thread-safe.
class NcclCalls {
 public:
  /// Frees the communicator; aborts it if end() was not called or is not complete.
  virtual ~NcclCalls() = default;
  /// Name and version, such as "NCCL 2.28.9".
  [[nodiscard]] virtual std::string_view version() const = 0;
  /// Makes the identifier of a new group. One rank calls it and sends it to the others. Throws CommError.
  [[nodiscard]] virtual NcclId make_id() = 0;
  /// Starts to join the group, on the device of `stream`. Throws CommError.
  /// @param size number of ranks; each must have its own device
  virtual void join(const NcclId& id, int rank, int size, runtime::Stream& stream) = 0;
  /// True if the last call is complete; for a collective this means that its work is queued. Throws CommError with
  /// NCCL's error text if the group has failed.
  [[nodiscard]] virtual bool is_idle() = 0;
  /// Starts to queue the mean over ranks on `stream`, in place. Sums are f32, and all ranks get the same bits. Throws
  /// CommError.
  virtual void all_reduce_mean(runtime::DeviceSpan<float> data, runtime::Stream& stream) = 0;
  /// Starts to queue messages on `stream`, all of which are in flight together. For each pair of ranks, messages arrive
  /// in the order in which they were sent. Ranks that exchange no message need not call it. Throws CommError.
  virtual void exchange(std::span<const NcclMessage> sends, std::span<const NcclMessage> receives,
                        runtime::Stream& stream) = 0;
  /// Starts to leave the group in agreement with the other ranks, after all collectives are done. Throws CommError.
  virtual void end() = 0;
  /// Aborts collectives in progress, without the other ranks. Their results are then invalid.
  virtual void abort() noexcept = 0;
};

/// Makes the NCCL implementation; loads the library at the first call. Throws CommError with the reason if NCCL is
/// missing. Defined in dist/nccl.cpp, or in dist/nccl_absent.cpp if the build had no NCCL header or no CUDA.
[[nodiscard]] std::unique_ptr<NcclCalls> make_nccl_calls();

/// Oldest version of NCCL that make_nccl_calls() accepts, such as "2.19.1". Empty if the build had no header of NCCL.
[[nodiscard]] std::string least_nccl_version();

}  // namespace roentgen::dist
