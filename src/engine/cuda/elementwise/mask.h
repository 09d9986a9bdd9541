// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of dropout, with the random streams of core/random.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/plan/lowering.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// dst = src * keep / (1 - p), in device memory. Element i belongs to chunk c = i / 1024. It is dropped if draw i %
/// 1024 of the stream {seed ^ node << 32, epoch c, sample = step, stage Dropout} is below p, as in engine/cpu.
struct Mask {
  DType type = DType::F32;           ///< of src and dst: F32, Bf16 or F16
  const StepState* state = nullptr;  ///< its step keys the streams
  std::uint64_t seed = 0;            ///< of the streams, with the node in it
  double probability = 0.0;          ///< p
  std::int64_t count = 0;            ///< elements
  std::byte* src = nullptr;
  std::byte* dst = nullptr;  ///< may be src
};
/// Reads and writes each element once.
void mask(runtime::Stream& stream, const Mask& work);

}  // namespace roentgen::engine::cuda
