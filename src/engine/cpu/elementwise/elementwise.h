// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that treat tensors as flat arrays, and conversion between layouts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/plan/bf16.h"
#include "engine/inputs.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"

namespace roentgen::engine::cpu {

/// Kernel that copies `count` floats.
[[nodiscard]] std::unique_ptr<Kernel> copy_kernel(TensorId from, TensorId to, std::int64_t count);
/// Kernel that copies `count` floats, unless `from` and `to` share memory, then runs `next`.
[[nodiscard]] std::unique_ptr<Kernel> after_copy_kernel(TensorId from, TensorId to, std::int64_t count,
                                                        std::unique_ptr<Kernel> next);
/// Kernel that converts between f32 and bf16, in the same order of elements.
[[nodiscard]] std::unique_ptr<Kernel> convert_kernel(const Located& from, const Located& to);
/// Kernel that adds `terms` in order, in f32, into `sum`. All have the layout of `sum`.
[[nodiscard]] std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum);
/// Kernel of to = from * scale + shift per channel, from u8 or u16 pixels to f32; both in plain order.
[[nodiscard]] std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to,
                                                       std::vector<PixelScale> scales);

/// Calls make() with a value of the C++ type of `dtype`.
template <class Make>
[[nodiscard]] std::unique_ptr<Kernel> for_type(DType dtype, const Make& make) {
  return dtype == DType::Bf16 ? make(Bf16{}) : make(0.0F);
}

/// Function of simd/flat.h that processes one or two flat arrays.
template <typename T>
using FlatLoop = void (*)(const T* a, const T* b, T* dst, std::int64_t count);
/// Kernel of dst = loop(a, b). All have the layout of dst; b is -1 if the loop has one operand. The team divides the
/// elements.
[[nodiscard]] std::unique_ptr<Kernel> flat_kernel(FlatLoop<float> loop, TensorId a, TensorId b, const Located& dst);
[[nodiscard]] std::unique_ptr<Kernel> flat_kernel(FlatLoop<Bf16> loop, TensorId a, TensorId b, const Located& dst);

}  // namespace roentgen::engine::cpu
