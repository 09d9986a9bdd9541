// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/compute_type.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace roentgen::engine {
namespace {
constexpr std::array<ComputeType, 4> kTypes{DType::F32, ComputeType::tf32(), DType::Bf16, DType::F16};
}  // namespace

std::string_view name_of(const ComputeType& type) {
  return type.rounds_to_tf32 ? "tf32" : roentgen::name_of(type.values);
}

std::optional<ComputeType> parse_dtype(std::string_view name) {
  if (name == "auto") return std::nullopt;
  const auto found = std::ranges::find_if(kTypes, [&](const ComputeType& type) { return name_of(type) == name; });
  if (found != kTypes.end()) return *found;
  throw ConfigError(error_text("engine.options", "dtype", "f32, tf32, bf16, f16 or auto", name, "f32"));
}

void require_host_type(const std::optional<ComputeType>& type) {
  if (!type || *type == DType::F32 || *type == DType::Bf16) return;
  throw ConfigError(
      error_text("engine.cpu", "dtype", "f32, bf16 or auto on a CPU", name_of(*type), "--dtype f32, or --device cuda"));
}

}  // namespace roentgen::engine
