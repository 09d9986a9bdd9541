// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel: one runnable plan entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/plan.h"

namespace roentgen::engine {

/// Addresses of a plan's tensors, in memory of the engine's device.
class Addresses {
 public:
  /// @param is_narrow of each tensor: its elements have two bytes instead of four; may be left out
  /// @param thread_stride_bytes from what a thread has of tensors of Storage::PerThread to what the next one has
  explicit Addresses(std::vector<std::byte*> addresses, std::vector<bool> is_narrow = {},
                     std::int64_t thread_stride_bytes = 0)
      : addresses_(std::move(addresses)), is_narrow_(std::move(is_narrow)), thread_stride_bytes_(thread_stride_bytes) {}
  [[nodiscard]] std::byte* bytes(TensorId id) const { return addresses_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] float* f32(TensorId id) const { return at<float>(id); }
  /// Elements of T, which must have the size of the tensor's.
  template <typename T>
  [[nodiscard]] T* at(TensorId id) const {
    RG_ASSERT(is_narrow_.empty() || is_narrow_.at(static_cast<std::size_t>(id)) == (sizeof(T) == 2));
    return reinterpret_cast<T*>(bytes(id));
  }
  [[nodiscard]] double* f64(TensorId id) const { return reinterpret_cast<double*>(bytes(id)); }
  /// Memory of which each thread has its own: where the first one's lies, and bytes from one to the next.
  struct OfThreads {
    std::byte* first = nullptr;
    std::int64_t stride = 0;
  };
  /// A tensor of Storage::PerThread.
  [[nodiscard]] OfThreads of_threads(TensorId id) const { return {bytes(id), thread_stride_bytes_}; }
  void set(TensorId id, std::byte* address) { addresses_.at(static_cast<std::size_t>(id)) = address; }

 private:
  std::vector<std::byte*> addresses_;
  std::vector<bool> is_narrow_;
  std::int64_t thread_stride_bytes_ = 0;
};

/// One plan entry made runnable. Driven by one thread, with whatever the engine brings to it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Takes the addresses it needs. Called once after memory is planned, and again when an input slot it reads changes.
  /// Allocates nothing.
  virtual void bind(const Addresses& addresses) = 0;
  /// Does the work or queues it. Allocates nothing, branches on no kind (those of Plan::preparations may allocate).
  virtual void run() = 0;
};

}  // namespace roentgen::engine
