// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm with ReLU, residual and second gradient on a CUDA device, channels last, in the fewest passes over memory.
// Sums are float32 in a fixed order, so the same launch gives the same bits.
//
// Training forward, per channel over the rows (N * H * W):
//   mean = E[x], var = E[(x - mean)^2], inv_std = 1 / sqrt(var + epsilon)
//   y = relu(gamma * inv_std * (x - mean) + beta + residual)
// Backward, with g = (dy + second) where the ReLU passed, else 0 (Ioffe & Szegedy 2015, section 3):
//   dbeta = sum g, dgamma = sum g * xhat, dx = gamma * inv_std * (g - dbeta / rows - xhat * dgamma / rows)
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Extent of a batch norm and of its launches.
struct NormShape {
  DType type = DType::Bf16;   ///< type of all values in memory: F32, Bf16 or F16
  std::int64_t rows = 0;      ///< N * H * W
  int channels = 0;           ///< a multiple of 8
  int multiprocessors = 132;  ///< of the device: decides the order of sums
};

/// Memory that one norm's sums need, in one of the two passes at a time. Device memory.
struct NormScratch {
  float* partials = nullptr;     ///< norm_partials() elements
  unsigned* counters = nullptr;  ///< norm_counters() elements, 0 before each launch and after it
};
[[nodiscard]] std::size_t norm_partials(const NormShape& shape);
[[nodiscard]] std::size_t norm_counters(const NormShape& shape);

/// Per-channel numbers of a norm, `channels` float32 each, device memory.
struct NormChannels {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* mean = nullptr;     ///< batch mean; written by norm_statistics()
  float* inv_std = nullptr;  ///< 1 / sqrt(var + epsilon); written by norm_statistics()
  float* scale = nullptr;    ///< gamma * inv_std; written by norm_statistics()
  float* shift = nullptr;    ///< beta - mean * scale; written by norm_statistics()
};

/// Running statistics, updated by norm_statistics(): r += momentum * (batch - r), with the unbiased variance.
struct NormRunning {
  float* mean = nullptr;
  float* var = nullptr;
  float momentum = 0.1F;
  float epsilon = 1e-5F;
};

/// Reads x once. One launch; ConfigError naming the field for an extent that the kernel cannot do. One thread a stream.
void norm_statistics(runtime::Stream& stream, const NormShape& shape, const void* x, const NormChannels& channels,
                     const NormRunning& running, const NormScratch& scratch);

/// Mean and biased variance of every channel, for norms that share them: `moments` gets the means, then the variances.
/// Reads x once. One launch; ConfigError as norm_statistics(). One thread a stream.
void norm_moments(runtime::Stream& stream, const NormShape& shape, const void* x, float* moments,
                  const NormScratch& scratch);

/// Operands of norm_apply(). Pointers to device memory, (rows, channels) unless said otherwise; null: absent.
struct NormApply {
  const void* x = nullptr;
  const void* residual = nullptr;
  const float* residual_scale =
      nullptr;  ///< channels; with residual_shift: the residual is normalised where it is read
  const float* residual_shift = nullptr;  ///< channels
  const float* scale = nullptr;           ///< channels
  const float* shift = nullptr;           ///< channels
  void* y = nullptr;                      ///< may be x or residual
  std::uint8_t* passed = nullptr;         ///< (rows, channels / 8): bit i says that the ReLU passed channel 8 * k + i
  bool relu = true;
};
/// y = relu(scale * x + shift + residual). Reads 1 or 2 values an element, writes 1.
void norm_apply(runtime::Stream& stream, const NormShape& shape, const NormApply& work);

/// How backward knows where the ReLU passed.
enum class NormMask {
  None,        ///< no ReLU, or dy is masked already
  Recomputed,  ///< scale * x + shift > 0
  Bits,        ///< NormApply::passed
};

/// Operands of norm_gradient_sums(). (rows, channels) unless said otherwise; null: absent.
struct NormSums {
  NormMask mask = NormMask::Recomputed;
  const void* x = nullptr;
  const void* dy = nullptr;
  const void* second = nullptr;          ///< second incoming gradient
  const std::uint8_t* passed = nullptr;  ///< for NormMask::Bits
  void* masked = nullptr;                ///< g, the residual's gradient; may be dy or second
  const float* mean = nullptr;           ///< channels, as the four below
  const float* inv_std = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* slope = nullptr;   ///< of dx = scale * g - slope * x + offset
  float* offset = nullptr;  ///< of dx = scale * g - slope * x + offset
  std::int64_t count = 0;   ///< rows that the statistics were taken over; 0: all rows of the shape
};
/// Sums over the rows and the two coefficients of dx. Reads x, dy (and second, passed) once; writes masked. One launch.
void norm_gradient_sums(runtime::Stream& stream, const NormShape& shape, const NormSums& work,
                        const NormScratch& scratch);

/// Operands of norm_gradient_apply(), (rows, channels) unless said otherwise.
struct NormGradient {
  NormMask mask = NormMask::Recomputed;  ///< None or Recomputed
  const void* x = nullptr;
  const void* dy = nullptr;
  const float* scale = nullptr;   ///< channels, as the three below; null: 1
  const float* shift = nullptr;   ///< for NormMask::Recomputed
  const float* slope = nullptr;   ///< of norm_gradient_sums()
  const float* offset = nullptr;  ///< of norm_gradient_sums()
  void* dx = nullptr;             ///< may be x or dy
};
/// dx = scale * g - slope * x + offset. Reads 2 values an element, writes 1.
void norm_gradient_apply(runtime::Stream& stream, const NormShape& shape, const NormGradient& work);

}  // namespace roentgen::engine::cuda
