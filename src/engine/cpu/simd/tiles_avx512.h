// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation of tiles.h on AVX-512 with its bf16 instructions: packing and storing for either unit, and products of
// bf16 values. For tiles.cpp only. Call the other functions only if is_there(), which also holds on machines with AMX.
#pragma once

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd::avx512 {

/// Whether this machine has these instructions, limited to what oneDNN may use.
[[nodiscard]] bool is_there();
/// Orders this thread's streaming stores before any later signal to other threads, however the team signals.
void release();
void pack_pairs(const PackSource<float>& first, const PackSource<float>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane);
void pack_pairs(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane);
void pack_turned(const PackSource<float>& first, const PackSource<float>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane);
void pack_turned(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane);
/// Works for any number of planes.
void tile_product(const TileProduct& work);
void put_results(const TileResults<float>& work);
void put_results(const TileResults<Bf16>& work);

}  // namespace roentgen::engine::cpu::simd::avx512
