// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel: the runnable form of one plan entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/plan.h"

namespace roentgen::engine {

/// Addresses of a plan's tensors, in memory of the engine's device.
class Addresses {
 public:
  /// @param is_narrow for each tensor: true if an element has two bytes instead of four; may be empty (not checked)
  /// @param replica_stride_bytes Plan::replica_stride_bytes
  explicit Addresses(std::vector<std::byte*> addresses, std::vector<bool> is_narrow = {},
                     std::int64_t replica_stride_bytes = 0)
      : addresses_(std::move(addresses)),
        is_narrow_(std::move(is_narrow)),
        replica_stride_bytes_(replica_stride_bytes) {}
  [[nodiscard]] std::byte* bytes(TensorId id) const { return addresses_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] float* f32(TensorId id) const { return at<float>(id); }
  /// Address of the tensor's elements as type T. T must have the size of the tensor's element type.
  template <typename T>
  [[nodiscard]] T* at(TensorId id) const {
    RG_ASSERT(is_narrow_.empty() || is_narrow_.at(static_cast<std::size_t>(id)) == (sizeof(T) == 2));
    return reinterpret_cast<T*>(bytes(id));
  }
  [[nodiscard]] double* f64(TensorId id) const { return reinterpret_cast<double*>(bytes(id)); }
  /// Replicas of a tensor: address of the first one, and bytes from one to the next.
  struct Replicas {
    std::byte* first = nullptr;
    std::int64_t stride = 0;
  };
  /// Replicas of a tensor with Storage::Workspace.
  [[nodiscard]] Replicas replicas(TensorId id) const { return {bytes(id), replica_stride_bytes_}; }
  void set(TensorId id, std::byte* address) { addresses_.at(static_cast<std::size_t>(id)) = address; }

 private:
  std::vector<std::byte*> addresses_;
  std::vector<bool> is_narrow_;
  std::int64_t replica_stride_bytes_ = 0;
};

/// Kernel of one plan entry. One thread drives it; it may use the engine's other threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Takes the addresses that the kernel needs. Called once after memory is planned, and again whenever an input slot
  /// that the kernel reads changes. Allocates nothing.
  virtual void bind(const Addresses& addresses) = 0;
  /// Does the work or queues it. Allocates nothing; only kernels of Plan::preparations may. Does not test the op's
  /// kind.
  virtual void run() = 0;
};

/// Kernel made from the function `bind`. bind(addresses) returns a second function that does the work with these
/// addresses. Neither function may allocate when it is called.
template <typename Bind>
class BoundKernel final : public Kernel {
 public:
  explicit BoundKernel(Bind bind) : bind_(std::move(bind)) {}
  void bind(const Addresses& addresses) override { work_.emplace(bind_(addresses)); }
  void run() override { (*work_)(); }

 private:
  Bind bind_;
  std::optional<std::invoke_result_t<const Bind&, const Addresses&>> work_;
};
/// Returns a BoundKernel of `bind`.
template <typename Bind>
[[nodiscard]] std::unique_ptr<Kernel> make_kernel(Bind bind) {
  return std::make_unique<BoundKernel<Bind>>(std::move(bind));
}

}  // namespace roentgen::engine
