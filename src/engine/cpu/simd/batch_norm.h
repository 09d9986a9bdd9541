// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Vector loops of batch norm over one channel block of one image. Highway selects the instruction set at run time.
//
// The data is `pixels` groups of `block` channels: the layout [pixel][channel in block] of nChw{block}c. All
// per-channel arrays have `block` entries. Padded channels hold zeros and, with zero scale and shift, stay zero.
//
// X is the type of the normalised value and its gradient, Y is the type of the result and its gradient. Each is float
// or Bf16, in the three pairs of ROENTGEN_NORM_TYPES. All computation is in f32.
#pragma once

#include <cstdint>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Adds sum(x - pivot) and sum((x - pivot)^2) over the pixels to `sum` and `sum_sq`. Sums of 64 pixels in f32 are added
/// to double: the relative error of each is about 64 * 2^-24 / sqrt(64). Reads x once.
template <class X>
void moments(const X* x, std::int64_t pixels, int block, const float* pivot, double* sum, double* sum_sq);

/// Arguments of scale_shift.
template <class X = float, class Y = X>
struct ScaleShift {
  const X* x = nullptr;
  const Y* residual = nullptr;  ///< added to x * scale + shift; null: none
  Y* y = nullptr;               ///< receives the result; may be x
  const float* scale = nullptr;
  const float* shift = nullptr;
  std::int64_t pixels = 0;
  int block = 16;
  bool relu = false;
  bool stream = false;  ///< writes y past the caches; y must be 64-byte aligned and differ from x and residual
};
/// Computes y = act(x * scale + shift + residual). NaN passes the ReLU.
template <class X, class Y>
void scale_shift(const ScaleShift<X, Y>& work);

/// Source of the ReLU mask: no mask, recomputed from x, or from the stored result y.
enum class Mask : int { None, FromX, FromY };

/// Arguments of gradient_sums.
template <class X = float, class Y = X>
struct GradientSums {
  const X* x = nullptr;
  const Y* y = nullptr;         ///< stored result, for Mask::FromY
  const Y* residual = nullptr;  ///< added to x * scale + shift; null: none
  const Y* dy = nullptr;
  const Y* dy2 = nullptr;  ///< second incoming gradient; null: none
  Y* g = nullptr;          ///< receives g * factor; may be dy or dy2; null: not stored
  Y* y_again = nullptr;  ///< receives relu(x * scale + shift + residual), without ReLU for Mask::None; null: not stored
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* mean = nullptr;
  const float* factor = nullptr;  ///< factor of each channel, for `g`; null: 1
  double* sum = nullptr;          ///< accumulates the sum of g
  double* sum_x = nullptr;        ///< accumulates the sum of g * (x - mean)
  std::int64_t pixels = 0;
  int block = 16;
  Mask mask = Mask::None;
  bool is_accumulating = false;  ///< adds to g instead of overwriting it
  bool stream = false;           ///< writes y_again past the caches; it must be 64-byte aligned
};
/// Computes g = dy + dy2 where the output was positive, else 0. Stores and sums what the pointers request, in one pass
/// over memory.
template <class X, class Y>
void gradient_sums(const GradientSums<X, Y>& work);

/// Arguments of gradient_apply.
template <class X = float, class Y = X>
struct GradientApply {
  const X* x = nullptr;
  const Y* g = nullptr;  ///< incoming gradient; with Mask::FromX it is masked here
  X* dx = nullptr;       ///< receives the gradient of x; may be g
  Y* y_again = nullptr;  ///< receives act(x * scale + shift); null: not stored
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* by_g = nullptr;  ///< coefficient of dx = by_g * g + by_x * x + constant
  const float* by_x = nullptr;
  const float* constant = nullptr;
  std::int64_t pixels = 0;
  int block = 16;
  Mask mask = Mask::None;
  bool relu = false;  ///< applies the ReLU to y_again
};
template <class X, class Y>
void gradient_apply(const GradientApply<X, Y>& work);

// Entries are (X, Y, suffix). An f32 value may be normalised into bf16, because tiles cannot compute every convolution
// in bf16. The reverse does not occur.
#define ROENTGEN_NORM_TYPES(RG_TYPES) \
  RG_TYPES(float, float, f32_f32)     \
  RG_TYPES(float, Bf16, f32_bf16)     \
  RG_TYPES(Bf16, Bf16, bf16_bf16)

}  // namespace roentgen::engine::cpu::simd
