// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small adapter to oneDNN (2.6 API), for the rest of the engine. Only this header and the users of primitive_internal.h
// know primitives.
#pragma once

#include <memory>
#include <string>

#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"

namespace roentgen::engine::cpu {

/// to = from in another layout of the same shape; padding of `to` becomes zero.
[[nodiscard]] std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to);

/// "oneDNN 2.6.3, AVX512_CORE".
[[nodiscard]] std::string library_description();

}  // namespace roentgen::engine::cpu
