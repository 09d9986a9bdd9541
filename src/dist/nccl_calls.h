// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NcclCalls: the part of NVIDIA's NCCL that averages gradients. The interface names neither NCCL nor CUDA, so that
// tests run its callers on emulated devices.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/stream.h"

namespace roentgen::dist {

/// Name of a group of NCCL before it is formed (ncclUniqueId).
using NcclId = std::array<std::byte, 128>;

/// One rank's end of a group of NCCL. Its calls return at once; is_idle() tells of their end. One thread.
class NcclCalls {
 public:
  /// Frees it; aborts where end() was not called or is not over.
  virtual ~NcclCalls() = default;
  /// "NCCL 2.28.9".
  [[nodiscard]] virtual std::string_view version() const = 0;
  /// A name for a new group: of one rank, which gives it to the others. CommError.
  [[nodiscard]] virtual NcclId make_id() = 0;
  /// Starts to form the group, on the device of `stream`. CommError.
  /// @param size all ranks; each has a device of its own
  virtual void join(const NcclId& id, int rank, int size, runtime::Stream& stream) = 0;
  /// Whether the last call is over: after a collective, its work is queued. CommError with NCCL's words when the group
  /// has failed, by a call or later.
  [[nodiscard]] virtual bool is_idle() = 0;
  /// Starts to queue the mean over ranks on `stream`, in place: sums in float32, the same bits on all ranks. CommError.
  virtual void all_reduce_mean(runtime::DeviceSpan<float> data, runtime::Stream& stream) = 0;
  /// Starts to take leave of the other ranks, after all collectives are done. CommError.
  virtual void end() = 0;
  /// Ends collectives that are under way, whose results are then void, without the other ranks.
  virtual void abort() noexcept = 0;
};

/// NCCL, loaded when it is first called. CommError where there is none, naming the reason. Defined in dist/nccl.cpp, or
/// in dist/nccl_absent.cpp where NCCL's header or CUDA was absent when the program was built.
[[nodiscard]] std::unique_ptr<NcclCalls> make_nccl_calls();

}  // namespace roentgen::dist
