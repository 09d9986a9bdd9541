// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ComputeType: number types in which an executable stores and multiplies values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/shape.h"

namespace roentgen::engine {

/// Type of values in memory, and whether products round their factors. Sums are f32 for all types.
struct ComputeType {
  DType values = DType::F32;  ///< F32, Bf16 or F16
  /// True if convolutions and linear layers on F32 values may round factors to TF32, which has 10 bits of mantissa
  /// (like PyTorch's torch.backends.cudnn.allow_tf32).
  bool rounds_to_tf32 = false;

  /// Makes a type whose products use unrounded factors.
  constexpr ComputeType(DType type) : values(type) {}  // NOLINT(google-explicit-constructor): intended
  constexpr ComputeType() = default;                   ///< f32
  friend bool operator==(const ComputeType&, const ComputeType&) = default;

  /// Returns the type with f32 values whose products round factors to TF32.
  [[nodiscard]] static constexpr ComputeType tf32() {
    ComputeType type;
    type.rounds_to_tf32 = true;
    return type;
  }
};

/// Returns "f32", "tf32", "bf16" or "f16".
[[nodiscard]] std::string_view name_of(const ComputeType& type);
/// Returns the value of CompileOptions::dtype for a name; nullopt for "auto". Throws ConfigError for any other name.
[[nodiscard]] std::optional<ComputeType> parse_dtype(std::string_view name);
/// Throws ConfigError for f16 and tf32, which only CUDA devices support.
void require_host_type(const std::optional<ComputeType>& type);

}  // namespace roentgen::engine
