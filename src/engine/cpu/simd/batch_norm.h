// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The vector loops of batch normalisation, over one channel block of one image. Dispatched by Highway at run time.
//
// A "row" is `pixels` groups of `block` channels: the layout [pixel][channel in block] of nChw{block}c. All per-channel
// arrays have `block` entries. Padded channels hold zeros and, with zero scale and shift, stay zero.
//
// X is the dtype of the normalised value and its gradient, Y that of the result: float or Bf16, in the three pairs of
// ROENTGEN_NORM_TYPES. All is computed in f32.
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Adds sum(x - pivot) and sum((x - pivot)^2) over the pixels to `sum` and `sum_sq`. f32 chains of 64 pixels flushed to
/// double: relative error about 64 * 2^-24 / sqrt(64) a chain. Reads x once.
template <class X>
void moments(const X* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq);

/// Arguments of scale_shift.
template <class X = float, class Y = X>
struct ScaleShift {
  const X* x = nullptr;
  const Y* residual = nullptr;  ///< or null
  Y* y = nullptr;               ///< may be x
  const float* scale = nullptr;
  const float* shift = nullptr;
  std::int64_t pixels = 0;
  int block = 16;
  bool relu = false;
  bool stream = false;  ///< y, aligned to 64 bytes and neither x nor residual, is written past the caches
};
/// y = act(x * scale + shift + residual); NaN goes through the ReLU.
template <class X, class Y>
void scale_shift(const ScaleShift<X, Y>& work);

/// Source of the ReLU mask.
enum class Mask : int { None, FromX, FromY };

/// Arguments of gradient_sums.
template <class X = float, class Y = X>
struct GradientSums {
  const X* x = nullptr;
  const Y* y = nullptr;         ///< for Mask::FromY
  const Y* residual = nullptr;  ///< added to x * scale + shift, or null
  const Y* dy = nullptr;
  const Y* dy2 = nullptr;  ///< a second incoming gradient, or null
  Y* g = nullptr;          ///< where g * factor goes, or null; may be dy or dy2
  Y* y_again = nullptr;    ///< where relu(x * scale + shift + residual) goes, without relu if unmasked; or null
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* mean = nullptr;
  const float* factor = nullptr;  ///< per channel, with `g`; null: 1
  double* sum = nullptr;          ///< += sum of g
  double* sum_x = nullptr;        ///< += sum of g * (x - mean)
  std::int64_t pixels = 0;
  int block = 16;
  Mask mask = Mask::None;
  bool is_accumulating = false;  ///< g += instead of g =
  bool stream = false;           ///< y_again, aligned to 64 bytes, is written past the caches
};
/// g = (dy + dy2) where the output was positive; writes and sums as asked, in one pass over memory.
template <class X, class Y>
void gradient_sums(const GradientSums<X, Y>& work);

/// Arguments of gradient_apply.
template <class X = float, class Y = X>
struct GradientApply {
  const X* x = nullptr;
  const Y* g = nullptr;  ///< masked here when mask is FromX
  X* dx = nullptr;       ///< may be g
  Y* y_again = nullptr;  ///< where act(x * scale + shift) goes, or null
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* by_g = nullptr;  ///< dx = by_g * g + by_x * x + constant
  const float* by_x = nullptr;
  const float* constant = nullptr;
  std::int64_t pixels = 0;
  int block = 16;
  Mask mask = Mask::None;
  bool relu = false;  ///< for y_again
};
template <class X, class Y>
void gradient_apply(const GradientApply<X, Y>& work);

// (X, Y, suffix): a value of f32 may be normalised into bf16 (that of a convolution the tiles cannot do), not the other
// way round.
#define ROENTGEN_NORM_TYPES(RG_TYPES) \
  RG_TYPES(float, float, f32_f32)     \
  RG_TYPES(float, Bf16, f32_bf16)     \
  RG_TYPES(Bf16, Bf16, bf16_bf16)

}  // namespace roentgen::engine::cpu::simd
