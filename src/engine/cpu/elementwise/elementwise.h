// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that treat tensors as flat arrays, and the reorder between layouts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/plan/bf16.h"
#include "engine/inputs.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"

namespace roentgen::engine::cpu {

/// to = from, `count` floats.
[[nodiscard]] std::unique_ptr<Kernel> copy_kernel(TensorId from, TensorId to, std::int64_t count);
/// Copies `from` to `to`, `count` floats, unless the plan let them share memory, then runs `next`.
[[nodiscard]] std::unique_ptr<Kernel> after_copy_kernel(TensorId from, TensorId to, std::int64_t count,
                                                        std::unique_ptr<Kernel> next);
/// to = from with the other type of elements, in the same order.
[[nodiscard]] std::unique_ptr<Kernel> convert_kernel(const Located& from, const Located& to);
/// sum = sum of `terms`, all laid out as it, added in order in f32.
[[nodiscard]] std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum);
/// to = from * scale + shift of each channel: plain pixels, u8 or u16, become plain f32.
[[nodiscard]] std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to,
                                                       std::vector<PixelScale> scales);

/// Calls make with a number of the stored type.
template <class Make>
[[nodiscard]] std::unique_ptr<Kernel> for_type(DType dtype, const Make& make) {
  return dtype == DType::Bf16 ? make(Bf16{}) : make(0.0F);
}

/// One of the flat loops of simd/flat.h over up to two sources.
template <typename T>
using FlatLoop = void (*)(const T* a, const T* b, T* dst, std::int64_t count);
/// dst = loop(a, b), all laid out alike; b = -1 when unused. Split over the team.
[[nodiscard]] std::unique_ptr<Kernel> flat_kernel(FlatLoop<float> loop, TensorId a, TensorId b, const Located& dst);
[[nodiscard]] std::unique_ptr<Kernel> flat_kernel(FlatLoop<Bf16> loop, TensorId a, TensorId b, const Located& dst);

}  // namespace roentgen::engine::cpu
