// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/norm/norm.h"

#include <algorithm>

#include "core/error.h"
#include "engine/cuda/norm/grid.h"
#include "engine/cuda/pack.h"

namespace roentgen::engine::cuda {
namespace {
void require(bool holds, std::string_view field, std::string_view expected, const std::string& got) {
  if (holds) return;
  throw ConfigError(
      error_text("engine.cuda.norm", "batch norm, " + std::string(field), expected, got, "reporting this bug"));
}
}  // namespace

void check_norm(const NormShape& shape) {
  require(shape.type == DType::F32 || shape.type == DType::Bf16 || shape.type == DType::F16, "type", "f32, bf16 or f16",
          std::string(name_of(shape.type)));
  constexpr int kMostChannels = 1 << 20;
  require(shape.channels > 0 && shape.channels % kWide == 0 && shape.channels <= kMostChannels, "channels",
          "a multiple of 8 up to 2^20", std::to_string(shape.channels));
  constexpr std::int64_t kMostRows = std::int64_t{1} << 40;
  require(shape.rows > 0 && shape.rows <= kMostRows, "rows", "1 to 2^40", std::to_string(shape.rows));
  require(shape.multiprocessors > 0, "multiprocessors", "at least 1", std::to_string(shape.multiprocessors));
}

NormGrid norm_grid(const NormShape& shape, int most_lanes, int blocks) {
  check_norm(shape);
  NormGrid grid;
  const std::int64_t packs = shape.channels / kWide;
  grid.tiles = static_cast<int>(ceil_div(packs, most_lanes));
  grid.lanes = static_cast<int>(ceil_div(packs, grid.tiles));
  grid.rows_at_once = kNormThreads / grid.lanes;
  const std::int64_t wanted = std::max(1, blocks * shape.multiprocessors / grid.tiles);
  constexpr std::int64_t kMostBlocks = 65535;
  grid.row_blocks = static_cast<int>(std::min({wanted, ceil_div(shape.rows, grid.rows_at_once), kMostBlocks}));
  return grid;
}

std::size_t norm_partials(const NormShape& shape) {
  const NormGrid grid = norm_grid(shape, kSumLanes);
  return static_cast<std::size_t>(grid.tiles) * static_cast<std::size_t>(grid.row_blocks) * 2 *
         static_cast<std::size_t>(grid.lanes * kWide);
}

std::size_t norm_counters(const NormShape& shape) {
  return static_cast<std::size_t>(norm_grid(shape, kSumLanes).tiles);
}

}  // namespace roentgen::engine::cuda
