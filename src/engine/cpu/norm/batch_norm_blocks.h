// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Common parts of the forward and backward kernels of batch norm: channel blocks, statistics and sums.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"
#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/cpu/plan/bf16.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {

/// Number of channels in the widest block.
constexpr int kMostBlock = 16;

/// Calls make(X{}, Y{}) with the C++ types of the shape's values and results (simd/batch_norm.h lists the pairs).
template <typename Make>
[[nodiscard]] std::unique_ptr<Kernel> for_types(const NormShape& shape, const Make& make) {
  if (shape.value_dtype == DType::Bf16) {
    RG_ASSERT(shape.result_dtype == DType::Bf16);
    return make(Bf16{}, Bf16{});
  }
  return shape.result_dtype == DType::Bf16 ? make(0.0F, Bf16{}) : make(0.0F, 0.0F);
}

/// Mean, variance and 1/standard deviation of each channel in one block.
struct BlockStatistics {
  float* mean = nullptr;
  float* variance = nullptr;
  float* istd = nullptr;
};

/// Addresses of one channel block of the input. X is the type of stored values.
template <class X>
struct BlockPlace {
  const X* value = nullptr;  // address of the block in image 0
  std::int64_t image_stride = 0;
  BlockStatistics statistics;
  X* gradient = nullptr;  // address of the block in the shared gradient G, image 0
  float* sum_a = nullptr;
  float* sum_b = nullptr;
  bool is_first = false;
};

inline BlockStatistics statistics_at(float* base, std::int64_t channels, std::int64_t offset) {
  return {base + offset, base + channels + offset, base + 2 * channels + offset};
}

/// Addresses of every channel block. bind() sets them; memory is allocated at construction.
template <class X>
class BlockTable {
 public:
  BlockTable(const NormShape& shape, const std::vector<NormPiece>& pieces)
      : shape_(shape), pieces_(pieces), places_(static_cast<std::size_t>(shape.blocks)) {}

  void bind(const Addresses& addresses) {
    std::size_t at = 0;
    for (const NormPiece& piece : pieces_) {
      const std::int64_t channels = piece.blocks * shape_.block;
      const std::int64_t block_elements = shape_.pixels * shape_.block;
      for (std::int64_t block = 0; block < piece.blocks; ++block) {
        BlockPlace<X>& place = places_[at++];
        place = {};
        place.value = addresses.at<X>(piece.value) + block * block_elements;
        place.image_stride = piece.blocks * block_elements;
        if (piece.statistics >= 0) {
          place.statistics = statistics_at(addresses.f32(piece.statistics), channels, block * shape_.block);
        }
        if (piece.gradient >= 0) {
          place.gradient = addresses.at<X>(piece.gradient) + block * block_elements;
          place.sum_a = addresses.f32(piece.sums) + block * shape_.block;
          place.sum_b = addresses.f32(piece.sums) + channels + block * shape_.block;
          place.is_first = piece.is_first;
        }
      }
    }
  }
  [[nodiscard]] const BlockPlace<X>& operator[](std::int64_t block) const {
    return places_[static_cast<std::size_t>(block)];
  }

 private:
  NormShape shape_;
  std::vector<NormPiece> pieces_;
  std::vector<BlockPlace<X>> places_;
};

/// Sums per (block, slot), which are added in the order of slots. A slot belongs to one image, whichever thread
/// processes it, or to one thread. With a slot per thread, the last bits depend on the number of threads.
struct Partial {
  double* base = nullptr;
  std::int64_t slots = 0;
  int block = 16;
  /// Totals over all ranks, [first | second] for each channel block. Null: only this rank's images count.
  const double* totals = nullptr;
  [[nodiscard]] double* first(std::int64_t channel_block, std::int64_t slot) const {
    return base + (channel_block * slots + slot) * 2 * block;
  }
  [[nodiscard]] double* second(std::int64_t channel_block, std::int64_t slot) const {
    return first(channel_block, slot) + block;
  }
  void clear(std::int64_t channel_block, std::int64_t slot) const {
    std::fill_n(first(channel_block, slot), 2 * block, 0.0);
  }
  // Computes totals over the images of all ranks, if `totals` is set, or of this rank.
  void add_up(std::int64_t channel_block, double* first_total, double* second_total) const {
    if (totals == nullptr) return add_up_own(channel_block, first_total, second_total);
    std::copy_n(totals + channel_block * 2 * block, block, first_total);
    std::copy_n(totals + (channel_block * 2 + 1) * block, block, second_total);
  }
  // Computes totals over the images of this rank.
  void add_up_own(std::int64_t channel_block, double* first_total, double* second_total) const {
    std::fill_n(first_total, block, 0.0);
    std::fill_n(second_total, block, 0.0);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      for (int i = 0; i < block; ++i) {
        first_total[i] += first(channel_block, slot)[i];
        second_total[i] += second(channel_block, slot)[i];
      }
    }
  }
};

/// Offset of a block in image `image` of a contiguous tensor, in elements.
inline std::int64_t offset_of(const NormShape& shape, std::int64_t block, std::int64_t image) {
  return (image * shape.blocks + block) * shape.pixels * shape.block;
}

/// Grid for three_phases() of a batch norm, with the size of its stored values.
inline PhaseGrid grid_of(const NormShape& shape) {
  return {shape.blocks, shape.images,
          shape.pixels * shape.block * static_cast<std::int64_t>(size_of(shape.value_dtype))};
}

/// Sums of batch statistics over all ranks; empty if statistics cover only this rank. Not thread-safe: each object
/// belongs to one kernel, which one thread runs.
class OverRanks {
 public:
  explicit OverRanks(const NormShape& shape) : shape_(shape) {
    if (shape.is_over_ranks()) totals_.resize(static_cast<std::size_t>(shape.blocks * shape.block) * 2);
  }
  /// Pointer for Partial::totals; null if statistics cover only this rank.
  [[nodiscard]] const double* totals() const { return totals_.empty() ? nullptr : totals_.data(); }

  /// Runs three_phases(). With several ranks, it sums over them after the first phase of all blocks and before the
  /// other two phases.
  template <typename First, typename Middle, typename Second>
  void run(const Partial& partial, const First& first, const Middle& middle, const Second& second) {
    if (totals_.empty()) return three_phases(shape_.threads, grid_of(shape_), first, middle, second);
    const auto nothing = [](auto...) {};
    three_phases(shape_.threads, grid_of(shape_), first, nothing, nothing);
    for (std::int64_t block = 0; block < shape_.blocks; ++block) {
      double* total = totals_.data() + block * 2 * shape_.block;
      partial.add_up_own(block, total, total + shape_.block);
    }
    shape_.sum_over_ranks(totals_);
    three_phases(shape_.threads, grid_of(shape_), nothing, middle, second);
  }

 private:
  NormShape shape_;
  std::vector<double> totals_;
};

inline void finish_statistics(const NormShape& shape, const Partial& partial, std::int64_t block, const float* pivot,
                              double epsilon, const BlockStatistics& to) {
  std::array<double, kMostBlock> sum{};
  std::array<double, kMostBlock> sum_sq{};
  partial.add_up(block, sum.data(), sum_sq.data());
  const double count = shape.count();
  for (int i = 0; i < shape.block; ++i) {
    const auto c = static_cast<std::size_t>(i);
    const double shifted = sum[c] / count;
    const double variance = std::max(sum_sq[c] / count - shifted * shifted, 0.0);
    to.mean[i] = static_cast<float>(static_cast<double>(pivot[i]) + shifted);
    to.variance[i] = static_cast<float>(variance);
    to.istd[i] = static_cast<float>(1.0 / std::sqrt(variance + epsilon));
  }
}

/// Updates running += momentum * (batch - running), with the unbiased variance as in torch. Skips channels whose batch
/// statistics are not finite. The update of a step with such values is skipped anyway, but the running values would
/// stay NaN.
inline void move_running(const NormShape& shape, const BlockStatistics& from, double momentum, float* mean,
                         float* variance) {
  const double count = shape.count();
  const double unbias = count > 1.0 ? count / (count - 1.0) : 1.0;
  for (int i = 0; i < shape.block; ++i) {
    if (!std::isfinite(from.mean[i]) || !std::isfinite(from.variance[i])) continue;
    mean[i] = static_cast<float>((1.0 - momentum) * mean[i] + momentum * from.mean[i]);
    variance[i] = static_cast<float>((1.0 - momentum) * variance[i] + momentum * unbias * from.variance[i]);
  }
}

/// Computes scale and shift such that the norm is y = x * scale + shift. Forward and backward must round equally, since
/// backward recomputes the ReLU mask.
inline void fold(int block, const float* weight, const float* bias, const BlockStatistics& from, float* scale,
                 float* shift) {
  for (int i = 0; i < block; ++i) {
    scale[i] = weight[i] * from.istd[i];
    shift[i] = bias[i] - from.mean[i] * scale[i];
  }
}

}  // namespace roentgen::engine::cpu
