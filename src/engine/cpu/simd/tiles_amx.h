// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products on Intel AMX's tiles, of tiles.h. For tiles.cpp only; without is_granted() the others must not be called.
#pragma once

#include <string_view>

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd::amx {

[[nodiscard]] bool is_granted();
/// "AMX", or what stands for it in a test.
[[nodiscard]] std::string_view instructions();
void configure();
void release();
void tile_product(const TileProduct& work);

}  // namespace roentgen::engine::cpu::simd::amx
