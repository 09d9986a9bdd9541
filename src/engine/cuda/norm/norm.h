// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Batch norm on a CUDA device, channels last, fused with ReLU, residual and second gradient for the fewest passes over
// memory. Sums are float32 in a fixed order, so equal launches give equal bits.
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

/// Size of a batch norm and of its launches.
struct NormShape {
  DType type = DType::Bf16;   ///< type of all values in memory: F32, Bf16 or F16
  std::int64_t rows = 0;      ///< N * H * W
  int channels = 0;           ///< number of channels, a multiple of 8
  int multiprocessors = 132;  ///< number of multiprocessors of the device; affects the order of sums
};

/// Scratch in device memory for the sums of one norm. Forward and backward may use the same memory.
struct NormScratch {
  float* partials = nullptr;     ///< norm_partials() elements
  unsigned* counters = nullptr;  ///< norm_counters() elements; 0 before and after each launch
};
[[nodiscard]] std::size_t norm_partials(const NormShape& shape);
[[nodiscard]] std::size_t norm_counters(const NormShape& shape);

/// Per-channel values of a norm: arrays of `channels` float32 in device memory.
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

/// Computes the batch statistics and updates the running ones. Reads x once, in one launch. Throws ConfigError naming
/// the field if the kernel does not support the shape. One thread per stream.
void norm_statistics(runtime::Stream& stream, const NormShape& shape, const void* x, const NormChannels& channels,
                     const NormRunning& running, const NormScratch& scratch);

/// Computes mean and biased variance of every channel, for norms that share them. `moments` receives the means, then
/// the variances. Reads x once, in one launch. Throws ConfigError as norm_statistics() does. One thread per stream.
void norm_moments(runtime::Stream& stream, const NormShape& shape, const void* x, float* moments,
                  const NormScratch& scratch);

/// Operands of norm_apply(). Pointers are to device memory of (rows, channels), unless noted otherwise; null means
/// absent.
struct NormApply {
  const void* x = nullptr;
  const void* residual = nullptr;
  const float* residual_scale =
      nullptr;  ///< scale of each channel with which the residual is normalised while it is read
  const float* residual_shift = nullptr;  ///< shift of each channel, with which the residual is normalised
  const float* scale = nullptr;           ///< scale of each channel
  const float* shift = nullptr;           ///< shift of each channel
  void* y = nullptr;                      ///< result; may be x or residual
  std::uint8_t* passed = nullptr;         ///< (rows, channels / 8): bit i is 1 if the ReLU passed channel 8 * k + i
  bool relu = true;
};
/// Computes y = relu(scale * x + shift + residual). Reads one or two values per element and writes one.
void norm_apply(runtime::Stream& stream, const NormShape& shape, const NormApply& work);

/// How the backward finds out which elements the ReLU passed.
enum class NormMask {
  None,        ///< no mask: there is no ReLU, or dy is masked already
  Recomputed,  ///< the ReLU passed if scale * x + shift > 0
  Bits,        ///< the stored bits NormApply::passed are read
};

/// Operands of norm_gradient_sums(). Pointers are to device memory of (rows, channels), unless noted otherwise; null
/// means absent.
struct NormSums {
  NormMask mask = NormMask::Recomputed;
  const void* x = nullptr;
  const void* dy = nullptr;
  const void* second = nullptr;          ///< second incoming gradient
  const std::uint8_t* passed = nullptr;  ///< bits of the ReLU mask, for NormMask::Bits
  void* masked = nullptr;                ///< output: g, the residual's gradient; may equal dy or second
  const float* mean = nullptr;           ///< mean to offset: one value per channel
  const float* inv_std = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* slope = nullptr;   ///< output: coefficient in dx = scale * g - slope * x + offset
  float* offset = nullptr;  ///< output: coefficient in dx = scale * g - slope * x + offset
  std::int64_t count = 0;   ///< number of rows that the statistics cover; 0: all rows of the shape
};
/// Computes dgamma, dbeta and the two coefficients of dx. Reads x, dy, second and passed once; writes masked. One
/// launch.
void norm_gradient_sums(runtime::Stream& stream, const NormShape& shape, const NormSums& work,
                        const NormScratch& scratch);

/// Operands of norm_gradient_apply(): device memory of (rows, channels), unless noted otherwise.
struct NormGradient {
  NormMask mask = NormMask::Recomputed;  ///< NormMask::None or NormMask::Recomputed
  const void* x = nullptr;
  const void* dy = nullptr;
  const float* scale = nullptr;   ///< scale to offset: one value per channel; scale null: 1
  const float* shift = nullptr;   ///< needed for NormMask::Recomputed
  const float* slope = nullptr;   ///< output of norm_gradient_sums()
  const float* offset = nullptr;  ///< output of norm_gradient_sums()
  void* dx = nullptr;             ///< gradient of x; may be x or dy
};
/// Computes dx = scale * g - slope * x + offset. Reads two values per element and writes one.
void norm_gradient_apply(runtime::Stream& stream, const NormShape& shape, const NormGradient& work);

}  // namespace roentgen::engine::cuda
