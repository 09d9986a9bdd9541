// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A convolution as products of matrices whose rows are pixels. Computes which source pixel a row reads for each tap of
// the kernel, and where its result is stored. Internal to this folder.
//
// The source is laid out with zeros where the window extends beyond it: rows of `pitch` columns, images of `pitch`
// rows. The zeros to the right of a row are also those to the left of the next row, so they are stored once. A stride
// divides the source into phases: with stride 2, even and odd rows and columns. A strided data gradient divides its
// target in the same way. In each phase the rows of the matrix are consecutive pixels, and a tap is a fixed distance.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/conv/products/products.h"

namespace roentgen::engine::cpu {

/// Bytes of packed source that stay in the L2 cache while other data streams through it.
constexpr std::int64_t kTilePanel_bytes = std::int64_t{768} << 10;

/// One axis of a grid: rows or columns.
struct GridAxis {
  struct Tap {
    std::int64_t index = 0;  ///< index of the tap in the kernel
    std::int64_t phase = 0;
    std::int64_t offset = 0;  ///< positions in the phase from the result's position to the tap's
  };
  /// Results first, first + step, ... of the target, and the taps that contribute to them.
  struct Target {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::vector<Tap> taps;
  };
  std::int64_t length = 0;         ///< length of the source along the axis
  std::int64_t step = 1;           ///< position i of phase p is source pixel i * step + p - lead
  std::int64_t lead = 0;           ///< number of zeros in front of the source
  std::int64_t pitch = 0;          ///< positions per row (or per image)
  std::int64_t target_length = 0;  ///< length of all targets together, along the axis
  std::int64_t target_step = 1;
  std::vector<Target> targets;
};

/// Grid of both axes for all images. Rows of the matrix are [image][row pitch][column pitch]. Rows that are not results
/// of a target are computed and discarded.
class TileGrid {
 public:
  struct Tap {
    std::int64_t weights = 0;  ///< index of the tap in the kernel's weights
    std::int64_t phase = 0;    ///< index into phases
    std::int64_t offset = 0;   ///< rows of the matrix from the result's row to the tap's
  };
  struct Target {
    GridAxis::Target rows;
    GridAxis::Target columns;
    std::vector<Tap> taps;
  };
  struct Phase {
    std::int64_t row = 0;
    std::int64_t column = 0;
    friend bool operator==(const Phase&, const Phase&) = default;
  };

  /// Grid of a forward, from src to dst.
  [[nodiscard]] static TileGrid forward(const ProductShape& shape);
  /// Grid of a data gradient, from the gradient of dst to the gradient of src.
  [[nodiscard]] static TileGrid backward(const ProductShape& shape);

  [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
  [[nodiscard]] const std::vector<Target>& targets() const { return targets_; }
  /// Number of rows of the matrix.
  [[nodiscard]] std::int64_t rows() const { return images_ * rows_.pitch * columns_.pitch; }
  /// Largest distance between a row and a row that one of its taps reads.
  [[nodiscard]] std::int64_t reach() const { return reach_; }
  /// Number of floats of a source block, or of a target block, in one image.
  [[nodiscard]] std::int64_t source_plane() const { return rows_.length * columns_.length * kProductBlock; }
  [[nodiscard]] std::int64_t target_plane() const {
    return rows_.target_length * columns_.target_length * kProductBlock;
  }

  /// Writes the offsets of rows [first, first + count) of a phase to `at`, in elements from the start of a source
  /// block; -1 means zeros. `image_blocks` is the number of blocks per image of the source tensor.
  void find_sources(const Phase& phase, std::int64_t first, std::int64_t count, std::int64_t image_blocks,
                    std::int64_t* at) const;
  /// Writes the offsets of the results of rows [first, first + count) to `at`. They are in elements of the target's
  /// block 0; -1 for rows without a result.
  void find_targets(const Target& target, std::int64_t first, std::int64_t count, std::int64_t* at) const;

 private:
  TileGrid(GridAxis rows, GridAxis columns, const ProductShape& shape, std::int64_t target_blocks);

  GridAxis rows_;
  GridAxis columns_;
  std::int64_t images_ = 0;
  std::int64_t target_blocks_ = 0;
  std::int64_t reach_ = 0;
  std::vector<Phase> phases_;
  std::vector<Target> targets_;
};

}  // namespace roentgen::engine::cpu
