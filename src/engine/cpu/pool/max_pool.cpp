// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of max pooling. Our kernels for blocked layouts store one byte per result, the position of the
// maximum. They can also normalise their input, instead of the batch norm before them. oneDNN computes other layouts.
#include "graph/ops/max_pool.h"

#include <algorithm>
#include <utility>

#include "engine/cpu/conv/conv2d_input.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/pool/pooling.h"
#include "engine/cpu/simd/max_pool.h"

namespace roentgen::engine::cpu {
namespace {
// Number of pixels of the largest window in which a byte can number all positions.
constexpr std::int64_t kMostWindow = 256;

PoolGeometry geometry_of(const graph::MaxPool& op, const graph::Node& node, const Located& src) {
  return {
      .src = src, .dst = node.shape, .kernel = op.kernel, .stride = op.stride, .pad = op.pad, .kind = PoolKind::Max};
}

bool is_ours(const PoolGeometry& g) {
  return g.src.layout.block > 1 && g.kernel.height * g.kernel.width <= kMostWindow;
}

simd::PoolExtent extent_of(const PoolGeometry& g) {
  return {.in_height = g.src.shape[2],
          .in_width = g.src.shape[3],
          .out_height = g.dst[2],
          .out_width = g.dst[3],
          .kernel_height = g.kernel.height,
          .kernel_width = g.kernel.width,
          .stride_y = g.stride.height,
          .stride_x = g.stride.width,
          .pad_top = g.pad.height,
          .pad_left = g.pad.width,
          .block = g.src.layout.block};
}

// Forward of our max pooling. A plane is one block of channels of one image.
template <class T>
class MaxPoolForward final : public Kernel {
 public:
  MaxPoolForward(const PoolGeometry& g, Prologue input, TensorId dst, TensorId position, int threads)
      : extent_(extent_of(g)),
        images_(g.src.shape[0]),
        threads_(threads),
        source_(g.src.tensor, channel_blocks(g.src.shape, g.src.layout), extent_.block,
                extent_.in_height * extent_.in_width * extent_.block, std::move(input)),
        dst_id_(dst),
        position_id_(position) {}
  void bind(const Addresses& addresses) override {
    source_.bind(addresses);
    dst_ = addresses.at<T>(dst_id_);
    if (position_id_ >= 0) position_ = reinterpret_cast<std::uint8_t*>(addresses.bytes(position_id_));
  }
  void run() override {
    const std::int64_t planes = images_ * source_.blocks();
    parallel_ranges(threads_, planes * extent_.out_height, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end;) {
        const std::int64_t plane = row / extent_.out_height;
        const std::int64_t last = std::min(end, (plane + 1) * extent_.out_height);
        pool(plane, row - plane * extent_.out_height, last - plane * extent_.out_height);
        row = last;
      }
    });
  }

 private:
  void pool(std::int64_t plane, std::int64_t begin, std::int64_t end) const {
    const std::int64_t image = plane / source_.blocks();
    const std::int64_t block = plane % source_.blocks();
    const std::int64_t at = plane * extent_.out_height * extent_.out_width * extent_.block;
    const auto& place = source_.place(block);
    simd::max_pool(extent_,
                   simd::MaxPool<T>{.src = source_.plane(image, block),
                                    .dst = dst_ + at,
                                    .position = position_ == nullptr ? nullptr : position_ + at,
                                    .scale = place.scale,
                                    .shift = place.shift,
                                    .relu = source_.relu()},
                   begin, end);
  }

  simd::PoolExtent extent_;
  std::int64_t images_;
  int threads_;
  ConvInput<T> source_;
  TensorId dst_id_, position_id_;
  T* dst_ = nullptr;
  std::uint8_t* position_ = nullptr;
};

template <class T>
std::unique_ptr<Kernel> max_pool_backward(const PoolGeometry& g, TensorId diff_dst, TensorId position,
                                          TensorId diff_src, int threads) {
  const simd::PoolExtent e = extent_of(g);
  const std::int64_t planes = g.src.shape[0] * channel_blocks(g.src.shape, g.src.layout);
  return make_kernel([=](const Addresses& addresses) {
    return [=, dy = addresses.at<T>(diff_dst), dx = addresses.at<T>(diff_src),
            positions = reinterpret_cast<const std::uint8_t*>(addresses.bytes(position))] {
      parallel_ranges(threads, planes * e.in_height, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t plane = i / e.in_height;
          const std::int64_t at = plane * e.out_height * e.out_width * e.block;
          const std::int64_t to = plane * e.in_height * e.in_width * e.block;
          simd::max_pool_gradient(e, simd::MaxPoolGradient<T>{dy + at, positions + at, dx + to},
                                  i - plane * e.in_height);
        }
      });
    };
  });
}

void lower_ours(const PoolGeometry& g, const ConvSource& source, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located dst = lowering.define(id, g.src.layout);
  Emission emission{.what = "forward",
                    .kind = "pool_forward",
                    .reads = source.reads,
                    .writes = {dst.tensor},
                    .implementation = source.prologue.pieces.empty() ? "simd" : "simd of norm"};
  TensorId position = -1;
  if (lowering.is_training() && lowering.needs_gradient(id)) {
    position =
        lowering.scratch(node.name + "/position", static_cast<std::size_t>(stored_elements(dst.shape, dst.layout)));
    lowering.kept_by_forward(id) = position;
    emission.writes.push_back(position);
  }
  lowering.emit(node, std::move(emission), for_type(g.src.layout.dtype, [&]<class T>(T) -> std::unique_ptr<Kernel> {
                  return std::make_unique<MaxPoolForward<T>>(g, source.prologue, dst.tensor, position,
                                                             lowering.threads());
                }));
}

void lower_backward_ours(const PoolGeometry& g, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located diff_dst = lowering.gradient(id, g.src.layout);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], g.src.layout);
  const TensorId position = lowering.kept_by_forward(id);
  lowering.emit_backward(id, "pool", {diff_dst.tensor, position}, diff_src,
                         {for_type(g.src.layout.dtype,
                                   [&]<class T>(T) {
                                     return max_pool_backward<T>(g, diff_dst.tensor, position, diff_src.tensor,
                                                                 lowering.threads());
                                   }),
                          "simd"});
}
}  // namespace

bool pools_normalised(const graph::MaxPool& op) { return op.kernel.height * op.kernel.width <= kMostWindow; }

void lower(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const graph::NodeId input = node.inputs[0];
  if (lowering.normalised(input)) {
    const Located src{-1, lowering.node(input).shape, lowering.vector_layout()};
    return lower_ours(geometry_of(op, node, src), conv_source(input, src.layout, lowering), id, lowering);
  }
  const PoolGeometry g = geometry_of(op, node, pool_source(input, lowering));
  if (!is_ours(g)) return lower_pool(g, id, lowering);
  lower_ours(g, {.src = g.src.tensor, .prologue = {}, .reads = {g.src.tensor}}, id, lowering);
}

void lower_backward(const graph::MaxPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src{-1, lowering.node(node.inputs[0]).shape, lowering.value(id).layout};
  const PoolGeometry g = geometry_of(op, node, src);
  if (is_ours(g)) {
    lower_backward_ours(g, id, lowering);
  } else {
    lower_pool_backward(g, id, lowering);
  }
}

}  // namespace roentgen::engine::cpu
