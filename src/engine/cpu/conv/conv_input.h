// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Blocks of channels that our convolution kernels read: from one tensor, or from several that are normalised while they
// are read. Internal to our convolution kernels and max_pool.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/simd/tiles.h"
#include "engine/plan/kernel.h"

namespace roentgen::engine::cpu {

/// Input of a convolution kernel. T is the type of stored values. After bind(), several threads may read it.
template <class T>
class ConvInput {
 public:
  /// Address of a block of image 0, and its normalisation: scale and shift of each channel in the block, or null.
  struct Place {
    const T* base = nullptr;
    std::int64_t table = 0;
    const float* scale = nullptr;
    const float* shift = nullptr;
  };

  /// Reads `blocks` blocks of `block` channels from `src`, or the pieces of `input` if it has any.
  /// @param block_numbers number of elements of a block in one image
  ConvInput(TensorId src, std::int64_t blocks, int block, std::int64_t block_numbers, Prologue input = {})
      : block_(block), block_numbers_(block_numbers), input_(std::move(input)) {
    if (!is_normalised()) input_.pieces = {{src, blocks}};
    for (const Prologue::Piece& piece : input_.pieces) {
      const auto found = std::ranges::find(image_blocks_, piece.blocks);
      const auto table = found - image_blocks_.begin();
      if (found == image_blocks_.end()) image_blocks_.push_back(piece.blocks);
      places_.insert(places_.end(), static_cast<std::size_t>(piece.blocks), Place{.table = table});
    }
  }

  void bind(const Addresses& addresses) {
    const float* constants = is_normalised() ? addresses.f32(input_.constants) : nullptr;
    const std::int64_t channels = blocks() * block_;
    std::int64_t at = 0;
    for (const Prologue::Piece& piece : input_.pieces) {
      const T* base = addresses.at<T>(piece.value);
      for (std::int64_t block = 0; block < piece.blocks; ++block, ++at) {
        Place& place = places_[static_cast<std::size_t>(at)];
        place.base = base + block * block_numbers_;
        if (constants == nullptr) continue;
        place.scale = constants + at * block_;
        place.shift = place.scale + channels;
      }
    }
  }

  [[nodiscard]] bool relu() const { return input_.relu; }
  [[nodiscard]] std::int64_t blocks() const { return static_cast<std::int64_t>(places_.size()); }
  /// Number of tables of row offsets. Offsets depend on the number of blocks per image of a tensor, so tensors with
  /// different numbers have separate tables.
  [[nodiscard]] std::int64_t tables() const { return static_cast<std::int64_t>(image_blocks_.size()); }
  [[nodiscard]] std::int64_t image_blocks(std::int64_t table) const {
    return image_blocks_[static_cast<std::size_t>(table)];
  }
  [[nodiscard]] const Place& place(std::int64_t block) const { return places_[static_cast<std::size_t>(block)]; }
  /// Address of a block's plane in an image.
  [[nodiscard]] const T* plane(std::int64_t image, std::int64_t block) const {
    const Place& here = place(block);
    return here.base + image * image_blocks(here.table) * block_numbers_;
  }
  /// Every `step`th row of a block, from `row` on. Returns no rows if `block` is past the last block. `at` has the
  /// tables, `table_rows` entries each.
  [[nodiscard]] simd::PackSource<T> rows(std::int64_t block, const std::int64_t* at, std::int64_t table_rows,
                                         std::int64_t row, std::int64_t step = 1) const {
    if (block >= blocks()) return {};
    const Place& here = place(block);
    return {.base = here.base,
            .at = at + here.table * table_rows + row,
            .at_step = step,
            .scale = here.scale,
            .shift = here.shift,
            .relu = input_.relu};
  }

 private:
  [[nodiscard]] bool is_normalised() const { return input_.constants >= 0; }
  int block_;
  std::int64_t block_numbers_;
  Prologue input_;
  std::vector<std::int64_t> image_blocks_;
  std::vector<Place> places_;
};

}  // namespace roentgen::engine::cpu
