// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of dropout. It draws the same random numbers as core/random.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Dropout dst = src * keep / (1 - p), in device memory. Element i is dropped if draw i % 1024 of a random stream is
/// below p. The stream is {seed ^ node << 32, epoch = i / 1024, sample = step, stage Dropout}, as in engine/cpu.
struct Mask {
  DType type = DType::F32;           ///< type of src and dst: F32, Bf16 or F16
  const StepState* state = nullptr;  ///< state->step selects the random streams
  std::uint64_t seed = 0;            ///< seed of the random streams, combined with the node's index
  double probability = 0.0;          ///< probability p of dropping an element
  std::int64_t count = 0;            ///< number of elements
  std::byte* src = nullptr;
  std::byte* dst = nullptr;  ///< result; may be equal to src
};
/// Queues the kernel. Reads and writes each element once.
void mask(runtime::Stream& stream, const Mask& work);

}  // namespace roentgen::engine::cuda
