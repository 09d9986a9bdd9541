// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel: one runnable plan entry.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/plan.h"

namespace roentgen::engine::cpu {

/// Where each tensor of the plan lies.
class Addresses {
 public:
  explicit Addresses(std::vector<std::byte*> addresses) : addresses_(std::move(addresses)) {}
  [[nodiscard]] std::byte* bytes(TensorId id) const { return addresses_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] float* f32(TensorId id) const { return reinterpret_cast<float*>(bytes(id)); }
  [[nodiscard]] double* f64(TensorId id) const { return reinterpret_cast<double*>(bytes(id)); }
  void set(TensorId id, std::byte* address) { addresses_.at(static_cast<std::size_t>(id)) = address; }

 private:
  std::vector<std::byte*> addresses_;
};

/// One plan entry made runnable. Driven by one thread; uses the OpenMP team inside.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Takes the addresses it needs. Called once after memory is planned, and again when an input slot it reads changes.
  /// Allocates nothing.
  virtual void bind(const Addresses& addresses) = 0;
  /// Does the work. Allocates nothing, branches on no kind (those of Plan::preparations may allocate).
  virtual void run() = 0;
};

/// What changes from step to step and kernels may read.
struct StepState {
  std::int64_t step = 0;
};

}  // namespace roentgen::engine::cpu
