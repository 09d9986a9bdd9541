// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The small adapter to oneDNN (2.6 API): the only header besides primitive_internal.h's users that knows a primitive.
// What the rest of the engine sees of it.
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
