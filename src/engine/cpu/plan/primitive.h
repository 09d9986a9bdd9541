// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small adapter to oneDNN (2.6 API) for the rest of the engine. Only this header and the users of primitive_internal.h
// use oneDNN primitives.
#pragma once

#include <memory>
#include <string>

#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"

namespace roentgen::engine::cpu {

/// Kernel that copies a value to another layout of the same shape. Padding of `to` becomes zero.
[[nodiscard]] std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to);

/// Version and instruction set of oneDNN, such as "oneDNN 2.6.3, AVX512_CORE".
[[nodiscard]] std::string library_description();

}  // namespace roentgen::engine::cpu
