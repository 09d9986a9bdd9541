// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// tiles.h on Intel AMX. For tiles.cpp only; without is_granted() the others must not be called.
#pragma once

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd::amx {

[[nodiscard]] bool is_granted();
void configure();
void release();
void split_pairs(const SplitSource<float>& first, const SplitSource<float>& second, std::int64_t count, std::byte* to,
                 std::int64_t planes, std::int64_t plane);
void split_pairs(const SplitSource<Bf16>& first, const SplitSource<Bf16>& second, std::int64_t count, std::byte* to,
                 std::int64_t planes, std::int64_t plane);
void split_turned(const SplitSource<float>& first, const SplitSource<float>& second, std::byte* to, std::int64_t row,
                  std::int64_t planes, std::int64_t plane);
void split_turned(const SplitSource<Bf16>& first, const SplitSource<Bf16>& second, std::byte* to, std::int64_t row,
                  std::int64_t planes, std::int64_t plane);
void tile_product(const TileProduct& work);
void put_results(const TileResults<float>& work);
void put_results(const TileResults<Bf16>& work);

}  // namespace roentgen::engine::cpu::simd::amx
