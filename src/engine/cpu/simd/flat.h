// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Vector loops over flat arrays of f32 or bf16 numbers; computed in f32.
#pragma once

#include <cstdint>
#include <span>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// dst = sum of the sources, added in order; `count` elements each. dst may be the first source.
void sum_arrays(std::span<const float* const> sources, float* dst, std::int64_t count);
void sum_arrays(std::span<const Bf16* const> sources, Bf16* dst, std::int64_t count);
/// dst = max(src, 0), NaN where src is; dst may be src.
void relu(const float* src, float* dst, std::int64_t count);
void relu(const Bf16* src, Bf16* dst, std::int64_t count);
/// diff_src = diff_dst where dst > 0, else 0; diff_src may be diff_dst.
void relu_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count);
void relu_backward(const Bf16* dst, const Bf16* diff_dst, Bf16* diff_src, std::int64_t count);
/// dst = src / (1 + exp(-src)); exp accurate to about 2 units in the last place.
void silu(const float* src, float* dst, std::int64_t count);
/// diff_src = diff_dst * s * (1 + src (1 - s)), s = 1 / (1 + exp(-src)).
void silu_backward(const float* src, const float* diff_dst, float* diff_src, std::int64_t count);
/// dst = 1 / (1 + exp(-src)), as exact as silu(); dst may be src.
void sigmoid(const float* src, float* dst, std::int64_t count);
/// diff_src = diff_dst * dst * (1 - dst); diff_src may be diff_dst.
void sigmoid_backward(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count);

/// dst = src, rounded as to_bf16() does where it is narrower.
void convert(const float* src, Bf16* dst, std::int64_t count);
void convert(const Bf16* src, float* dst, std::int64_t count);

}  // namespace roentgen::engine::cpu::simd
