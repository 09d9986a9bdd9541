// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation of tiles.h on Intel AMX. For tiles.cpp only. Call functions other than is_granted() only if it returns
// true.
#pragma once

#include <string_view>

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd::amx {

[[nodiscard]] bool is_granted();
/// Name of the instructions: "AMX", or the name of their emulation in a test.
[[nodiscard]] std::string_view instructions();
void configure();
void release();
void tile_product(const TileProduct& work);

}  // namespace roentgen::engine::cpu::simd::amx
