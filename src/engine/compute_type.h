// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ComputeType: numbers that an executable stores and multiplies, and their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/shape.h"

namespace roentgen::engine {

/// Type of the values in memory, and rounding of the factors of products. Sums are f32 in all types.
struct ComputeType {
  DType values = DType::F32;  ///< F32, Bf16 or F16
  /// F32: convolutions and linear layers may round factors to TF32, f32 with 10 bits of mantissa (PyTorch's
  /// torch.backends.cudnn.allow_tf32).
  bool rounds_to_tf32 = false;

  /// Products of unrounded values.
  constexpr ComputeType(DType type) : values(type) {}  // NOLINT(google-explicit-constructor): a DType is one
  constexpr ComputeType() = default;                   ///< f32
  friend bool operator==(const ComputeType&, const ComputeType&) = default;

  /// Values in f32, products of factors in TF32.
  [[nodiscard]] static constexpr ComputeType tf32() {
    ComputeType type;
    type.rounds_to_tf32 = true;
    return type;
  }
};

/// "f32", "tf32", "bf16" or "f16".
[[nodiscard]] std::string_view name_of(const ComputeType& type);
/// Value of CompileOptions::dtype by name, or nullopt for "auto". ConfigError for another one.
[[nodiscard]] std::optional<ComputeType> parse_dtype(std::string_view name);
/// Refuses f16 and tf32, which CUDA devices alone compute in. ConfigError.
void require_host_type(const std::optional<ComputeType>& type);

}  // namespace roentgen::engine
