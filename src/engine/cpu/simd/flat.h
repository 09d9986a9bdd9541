// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Vector loops over flat arrays of f32 or bf16 numbers. They compute in f32.
#pragma once

#include <cstdint>
#include <span>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Computes dst = sum of the sources, added in order; each has `count` elements. dst may be the first source.
void sum_arrays(std::span<const float* const> sources, float* dst, std::int64_t count);
void sum_arrays(std::span<const Bf16* const> sources, Bf16* dst, std::int64_t count);
/// Computes dst = max(src, 0); NaN stays NaN. dst may be src.
void relu(const float* src, float* dst, std::int64_t count);
void relu(const Bf16* src, Bf16* dst, std::int64_t count);
/// Computes diff_src = diff_dst where dst > 0, else 0. diff_src may be diff_dst.
void relu_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count);
void relu_backward(const Bf16* dst, const Bf16* diff_dst, Bf16* diff_src, std::int64_t count);
/// Computes dst = src / (1 + exp(-src)). exp is accurate to about 2 units in the last place.
void silu(const float* src, float* dst, std::int64_t count);
/// Computes diff_src = diff_dst * s * (1 + src (1 - s)), where s = 1 / (1 + exp(-src)).
void silu_backward(const float* src, const float* diff_dst, float* diff_src, std::int64_t count);
/// Computes dst = 1 / (1 + exp(-src)), as accurate as silu(). dst may be src.
void sigmoid(const float* src, float* dst, std::int64_t count);
/// Computes diff_src = diff_dst * dst * (1 - dst). diff_src may be diff_dst.
void sigmoid_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count);

/// Converts between f32 and bf16, rounded as to_bf16() does.
void convert(const float* src, Bf16* dst, std::int64_t count);
void convert(const Bf16* src, float* dst, std::int64_t count);

}  // namespace roentgen::engine::cpu::simd
