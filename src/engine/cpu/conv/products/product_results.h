// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stores products in a tensor, also with sums for the batch norm that reads it. A data gradient may instead pass its
// products to the backward of the batch norm that made the convolution's input. Internal to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/error.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/conv/products/products.h"
#include "engine/cpu/norm/batch_norm_blocks.h"
#include "engine/cpu/norm/shared_gradients.h"
#include "engine/cpu/plan/bf16.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Number of rows (two tiles) that are computed before they are stored, if they are not stored directly from registers.
constexpr std::int64_t kPanelUnit = 2 * simd::kTileRows;
/// Results of at least this size are written past the caches. A normal store would first read each cache line.
constexpr std::int64_t kStreamed_bytes = std::int64_t{24} << 20;

/// Up to kPanelUnit rows of 16 results in the type in which they will be stored: unchanged for f32, rounded for bf16.
template <class T>
class ResultRows;
template <>
class ResultRows<float> {
 public:
  ResultRows(simd::ProductUnit /*unit*/, const float* c, std::int64_t /*rows*/) : rows_(c) {}
  [[nodiscard]] const float* data() const { return rows_; }

 private:
  const float* rows_;
};
template <>
class ResultRows<Bf16> {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): zeros would be written for every tile
  ResultRows(simd::ProductUnit unit, const float* c, std::int64_t rows) {
    simd::put_results(unit, simd::TileResults<Bf16>{.c = c, .at = kAt.data(), .rows = rows, .base = rows_.data()});
  }
  [[nodiscard]] const Bf16* data() const { return rows_.data(); }

 private:
  static constexpr std::array<std::int64_t, kPanelUnit> kAt = [] {
    std::array<std::int64_t, kPanelUnit> at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i) * simd::kTileRows;
    return at;
  }();
  alignas(64) std::array<Bf16, kPanelUnit * simd::kTileRows> rows_;  // the constructor sets all elements that are read
};

/// Rows of 16 results of one block of channels, computed by one thread of the team.
struct ResultsOfBlock {
  std::int64_t block = 0;
  const float* c = nullptr;          ///< [rows][16]
  const std::int64_t* at = nullptr;  ///< offset of each row from block 0 of the target; negative: not stored
  std::int64_t rows = 0;
  int thread = 0;
};

/// Stores the results of a forward, or of a data gradient (`is_turned`). T is the type of stored values. After bind(),
/// every thread calls open(), calls put() for its rows, and calls close().
template <class T>
class ProductResults {
 public:
  /// @param plane number of elements of a block in one image
  ProductResults(const ProductShape& shape, const ConvTensors& tensors, bool is_turned, std::int64_t plane)
      : s_(shape),
        tensors_(tensors),
        target_at_(is_turned ? tensors.src : tensors.dst),
        blocks_(is_turned ? shape.in_blocks : shape.out_blocks),
        plane_(plane) {
    const std::int64_t numbers = shape.images * blocks_ * plane;
    is_streaming_ = !tensors.epilogue.adds && numbers * static_cast<std::int64_t>(sizeof(T)) >= kStreamed_bytes;
    RG_ASSERT(!is_turned || tensors.epilogue.moments.partial < 0);
    if (!tensors.epilogue.norm_gradient) return;
    const NormShape& of = tensors.epilogue.norm_gradient->shape;
    RG_ASSERT(is_turned && is_pointwise(shape) && of.images == shape.images && of.blocks == shape.in_blocks &&
              of.pixels == shape.in_height * shape.in_width && of.block == kProductBlock &&
              of.value_dtype == shape.dtype && of.result_dtype == shape.dtype);
    norm_.emplace(of, tensors.epilogue.norm_gradient->work, shape.threads);
  }

  void bind(const Addresses& addresses) {
    if (norm_) {
      norm_->bind(addresses);
    } else {
      target_ = addresses.at<T>(target_at_);
    }
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    if (tensors_.epilogue.moments.partial < 0) return;
    sums_ = {addresses.f64(tensors_.epilogue.moments.partial), s_.threads, static_cast<int>(kProductBlock)};
    pivot_ = addresses.f32(tensors_.epilogue.moments.pivot);
  }

  /// Clears the sums. Call it before a barrier that precedes the first put(). A team may be smaller than requested, so
  /// the slots of missing members are cleared too.
  void open(int thread, int threads) const {
    const Share blocks = share_of(norm_ ? blocks_ : 0, thread, threads);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) norm_->open(block);
    for (std::int64_t slot = thread; pivot_ != nullptr && slot < s_.threads; slot += threads) {
      for (std::int64_t block = 0; block < blocks_; ++block) sums_.clear(block, slot);
    }
  }
  /// Finishes the batch norm's gradients. Call it after a barrier.
  void close(int thread, int threads) const {
    const Share blocks = share_of(norm_ ? blocks_ : 0, thread, threads);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) norm_->close(block);
  }

  /// True if results are stored in the target tensor. Product kernels may then store them directly.
  [[nodiscard]] bool has_target() const { return !norm_; }
  /// Lets `product` store its columns directly in the target: from block `block` on, `at` elements after the start of
  /// the block. Requires has_target() and f32 values.
  void set_target(simd::RowProduct& product, std::int64_t block, std::int64_t at, int thread) const {
    product.c = target_ + block * plane_ + at;
    product.c_column = plane_;
    product.is_streaming = is_streaming_;
    product.is_claiming = !is_streaming_;
    product.bias = bias_ == nullptr ? nullptr : bias_ + block * kProductBlock;
    product.adds = tensors_.epilogue.adds;
    product.relu = tensors_.epilogue.relu;
    if (pivot_ == nullptr) return;
    product.pivot = pivot_ + block * kProductBlock;
    product.sum = sums_.first(block, thread);
    product.sum_sq = sums_.second(block, thread);
    product.sum_column = sums_.first(1, 0) - sums_.first(0, 0);
  }

  /// Addresses that put() reads and writes for `pixel` of `image` in a block, for prefetching. Requires !has_target().
  [[nodiscard]] NormTouches<T> touches(std::int64_t block, std::int64_t image, std::int64_t pixel) const {
    return norm_->touches({.block = block, .image = image, .first = pixel});
  }

  /// Stores rows of results in the target tensor, or passes them to the batch norm's backward.
  void put(const ResultsOfBlock& of) const {
    if (norm_) return add_to_norm(of);
    simd::TileResults<T> results{.c = of.c,
                                 .at = of.at,
                                 .rows = of.rows,
                                 .base = target_ + of.block * plane_,
                                 .bias = bias_ == nullptr ? nullptr : bias_ + of.block * kProductBlock,
                                 .adds = tensors_.epilogue.adds,
                                 .relu = tensors_.epilogue.relu,
                                 .is_streaming = is_streaming_};
    if (pivot_ != nullptr) {
      results.pivot = pivot_ + of.block * kProductBlock;
      results.sum = sums_.first(of.block, of.thread);
      results.sum_sq = sums_.second(of.block, of.thread);
    }
    simd::put_results(s_.unit, results);
  }
  /// Stores zeros in all blocks, for pixels that no tap reaches: their gradient is zero.
  void put_zeros(const std::int64_t* at, std::int64_t rows) const {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      simd::put_results(s_.unit, simd::TileResults<T>{.at = at, .rows = rows, .base = target_ + block * plane_});
    }
  }

 private:
  // Passes rows to the norm's sums, one run of adjacent pixels at a time.
  void add_to_norm(const ResultsOfBlock& of) const {
    const std::int64_t pixels = s_.in_height * s_.in_width;
    const std::int64_t* at = of.at;
    for (std::int64_t row = 0, next = 0; row < of.rows; row = next) {
      next = row + 1;
      if (at[row] < 0) continue;
      const std::int64_t image = at[row] / (pixels * blocks_ * kProductBlock);
      const std::int64_t pixel = at[row] / kProductBlock - image * pixels * blocks_;
      const std::int64_t last = std::min(of.rows, row + pixels - pixel);
      // Offsets are increasing. If the last pixel's offset differs by exactly the number of rows, no pixel is missing.
      if (at[last - 1] == at[row] + (last - 1 - row) * kProductBlock) next = last;
      while (next < last && at[next] == at[next - 1] + kProductBlock) ++next;
      const ResultRows<T> some(s_.unit, of.c + row * kProductBlock, next - row);
      norm_->add({.block = of.block, .image = image, .first = pixel, .count = next - row, .slot = of.thread},
                 some.data());
    }
  }

  ProductShape s_;
  ConvTensors tensors_;
  TensorId target_at_;
  std::int64_t blocks_, plane_;
  bool is_streaming_ = false;
  std::optional<SharedGradients<T>> norm_;
  T* target_ = nullptr;
  const float* bias_ = nullptr;
  const float* pivot_ = nullptr;
  Partial sums_;
};

}  // namespace roentgen::engine::cpu
