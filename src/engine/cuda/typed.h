// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects a C++ type at run time from a DType. For .cu files.
#pragma once

#include <cstddef>

#include "core/error.h"
#include "core/shape.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {

/// Calls body(value) with a value of the C++ type of `type`, which is F32, Bf16 or F16.
template <typename Body>
void with_type(DType type, const Body& body) {
  RG_ASSERT(type == DType::F32 || type == DType::Bf16 || type == DType::F16);
  if (type == DType::Bf16) return body(Bf16{});
  if (type == DType::F16) return body(F16{});
  body(0.0F);
}
/// Casts the address to a pointer to T.
template <typename T>
[[nodiscard]] T* typed(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}

}  // namespace roentgen::engine::cuda
