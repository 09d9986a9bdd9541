// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SGD with momentum over many tensors in one launch: float32 master weights, their copies in the type of the network's
// values, and the sum of squares of the gradient.
//   g = gradient_scale * gradient; square += g^2; g += weight_decay * p
//   b = momentum * b + g;  p -= lr * (nesterov ? g + momentum * b : b);  copy = rounded p
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

inline constexpr int kUpdateChunk = 2048;  ///< most elements of a block

/// Elements [begin, begin + count) of the arena.
struct UpdateChunk {
  std::int64_t begin = 0;  ///< a multiple of 8
  std::int32_t count = 0;  ///< at most kUpdateChunk
  float weight_decay = 0.0F;
};
/// Elements [begin, begin + count) with one weight decay.
struct UpdateRange {
  std::int64_t begin = 0;  ///< a multiple of 8
  std::int64_t count = 0;
  float weight_decay = 0.0F;
};
/// Chunks of ranges, in their order.
[[nodiscard]] std::vector<UpdateChunk> update_chunks(std::span<const UpdateRange> ranges);

/// Numbers of one step, in device memory, so that a captured graph can be replayed with others.
struct SgdStep {
  float lr = 0.0F;
  float momentum = 0.0F;
  float gradient_scale = 1.0F;
};

/// Operands of sgd(). Device memory.
struct SgdWork {
  float* weights = nullptr;          ///< master weights
  float* momenta = nullptr;          ///< momentum buffer
  const float* gradients = nullptr;  ///< sums of the gradients
  void* copies = nullptr;            ///< of type copy_type; null: no copies
  DType copy_type = DType::Bf16;     ///< Bf16 or F16
  const UpdateChunk* chunks = nullptr;
  int chunk_count = 0;
  const SgdStep* step = nullptr;
  bool nesterov = false;
  float* partials = nullptr;    ///< chunk_count elements
  unsigned* counter = nullptr;  ///< 0 before the launch and after it
  float* square_sum = nullptr;  ///< sum of g^2 over all chunks
};
/// Updates all chunks. Reads 12 bytes an element, writes 8, and the copies. One launch. ConfigError naming the field
/// for what the kernel cannot do. One thread a stream.
void sgd(runtime::Stream& stream, const SgdWork& work);

}  // namespace roentgen::engine::cuda
