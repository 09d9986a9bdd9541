// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Implementation of tiles.h on AVX-512 with bf16 instructions: products of bf16 values, and packing and storing for AMX
// too. For tiles.cpp only. Call functions other than is_there() only if it returns true, as it also does on machines
// with AMX.
#pragma once

#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd::avx512 {

/// True if this machine has these instructions and oneDNN may use them.
[[nodiscard]] bool is_there();
/// Orders this thread's streaming stores before any later signal to other threads, whatever the team uses to signal.
void release();
void pack_pairs(const PackSource<float>& first, const PackSource<float>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane);
void pack_pairs(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::int64_t count, std::byte* to,
                std::int64_t planes, std::int64_t plane);
void pack_turned(const PackSource<float>& first, const PackSource<float>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane);
void pack_turned(const PackSource<Bf16>& first, const PackSource<Bf16>& second, std::byte* to, std::int64_t row,
                 std::int64_t planes, std::int64_t plane);
/// Computes a product of tiles (tiles.h), for any number of planes.
void tile_product(const TileProduct& work);
void put_results(const TileResults<float>& work);
void put_results(const TileResults<Bf16>& work);

}  // namespace roentgen::engine::cpu::simd::avx512
