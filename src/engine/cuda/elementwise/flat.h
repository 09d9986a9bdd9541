// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels that treat tensors as flat arrays: elementwise ops, sums, conversions, and sums over the rows of a matrix.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/shape.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Operation on each element, with one operand `a` or two operands `a` and `b`.
enum class FlatOp : std::uint8_t {
  Copy,             ///< a
  Relu,             ///< max(a, 0); NaN stays NaN
  ReluBackward,     ///< a > 0 ? b : 0, where a is the result of the forward
  Sigmoid,          ///< 1 / (1 + exp(-a))
  SigmoidBackward,  ///< b a (1 - a), where a is the result of the forward
  Silu,             ///< a * s, where s = 1 / (1 + exp(-a))
  SiluBackward,     ///< b s (1 + a (1 - s)), where a is the input of the forward
};

/// Work of flat_kernel(): dst = op(a, b).
struct FlatWork {
  FlatOp op = FlatOp::Copy;
  DType type = DType::F32;  ///< type of a, b and dst: F32, Bf16 or F16
  TensorId a = -1;
  TensorId b = -1;         ///< second operand; -1: the operation has one operand
  TensorId dst = -1;       ///< may be the same tensor as a or b
  std::int64_t count = 0;  ///< number of elements
};
/// Returns the plan kernel of the operation. It queues its work on `stream`.
[[nodiscard]] std::unique_ptr<Kernel> flat_kernel(const FlatWork& work, runtime::Stream* stream);

/// Returns the plan kernel that adds `terms` in order, in f32, and writes the result to `sum`. All have the layout of
/// `sum`.
[[nodiscard]] std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum,
                                                 runtime::Stream* stream);

/// Address in device memory and type of the elements there: F32, Bf16 or F16.
struct TypedPointer {
  DType type = DType::F32;
  std::byte* address = nullptr;
};
/// Converts `count` elements, rounded to nearest, ties to even. Reads and writes each element once.
void convert(runtime::Stream& stream, TypedPointer from, TypedPointer to, std::int64_t count);

/// Row-major matrix (rows, channels) in device memory.
struct Matrix {
  TypedPointer values;
  std::int64_t rows = 0;
  std::int64_t channels = 0;
};
/// Computes values[r][c] = act(values[r][c] + bias[c]) in f32, where act is a ReLU or the identity. Reads and writes
/// each value once.
void add_bias(runtime::Stream& stream, const Matrix& matrix, const float* bias, bool relu);
/// Number of floats of scratch that sum_rows() needs.
[[nodiscard]] std::int64_t sum_rows_scratch(std::int64_t rows, std::int64_t channels);
/// Computes sums[c] = sum over r of values[r][c], in f32 and in a fixed order. Reads each value once. Two launches.
void sum_rows(runtime::Stream& stream, const Matrix& matrix, float* sums, float* scratch);

}  // namespace roentgen::engine::cuda
