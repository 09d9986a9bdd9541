// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of concatenation: none when virtual; else one copy each way.
#include "graph/ops/concat.h"

#include <algorithm>

#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
// Copies images' channel runs between one wide tensor and several narrow ones of the same block.
class ChannelCopy final : public Kernel {
 public:
  enum class Direction { Join, Split };
  struct Part {
    TensorId tensor;
    std::int64_t bytes;  // of an image
  };
  ChannelCopy(Direction direction, std::vector<Part> parts, TensorId wide, std::int64_t images)
      : direction_(direction), parts_(std::move(parts)), wide_(wide), images_(images), addresses_(parts_.size()) {
    for (const Part& part : parts_) image_bytes_ += part.bytes;
  }
  void bind(const Addresses& addresses) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) addresses_[i] = addresses.bytes(parts_[i].tensor);
    base_ = addresses.bytes(wide_);
  }
  void run() override {
    parallel_ranges(omp_get_max_threads(), images_, 1, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) {
        std::byte* wide = base_ + image * image_bytes_;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
          std::byte* narrow = addresses_[i] + image * parts_[i].bytes;
          if (direction_ == Direction::Join) {
            std::copy_n(narrow, parts_[i].bytes, wide);
          } else {
            std::copy_n(wide, parts_[i].bytes, narrow);
          }
          wide += parts_[i].bytes;
        }
      }
    });
  }

 private:
  Direction direction_;
  std::vector<Part> parts_;
  TensorId wide_;
  std::int64_t images_;
  std::int64_t image_bytes_ = 0;
  std::vector<std::byte*> addresses_;
  std::byte* base_ = nullptr;
};

// Bytes of an image.
std::int64_t image_bytes(const Shape& shape, Layout layout) {
  return static_cast<std::int64_t>(stored_bytes(shape, layout)) / shape[0];
}

// The block all inputs can be laid end to end in: the machine's when it divides every input, else plain.
Layout common_layout(const graph::Node& node, const Lowering& lowering) {
  const Layout wanted = lowering.vector_layout();
  const bool fits = std::ranges::all_of(node.inputs, [&](graph::NodeId input) {
    const auto pieces = lowering.pieces(input);
    return std::ranges::all_of(pieces, [&](graph::NodeId piece) {
      return lowering.value(piece).layout.block == wanted.block && lowering.node(piece).shape[1] % wanted.block == 0;
    });
  });
  return fits ? wanted : Layout{};
}

void join(const graph::Node& node, std::string_view what, const std::vector<Located>& pieces, const Located& dst,
          Lowering& lowering) {
  std::vector<ChannelCopy::Part> parts;
  std::vector<TensorId> reads;
  for (const Located& piece : pieces) {
    parts.push_back({piece.tensor, image_bytes(piece.shape, piece.layout)});
    reads.push_back(piece.tensor);
  }
  lowering.emit(
      node,
      {.what = std::string(what),
       .kind = "concat_" + std::string(what),
       .reads = std::move(reads),
       .writes = {dst.tensor},
       .implementation = "copy"},
      std::make_unique<ChannelCopy>(ChannelCopy::Direction::Join, std::move(parts), dst.tensor, node.shape[0]));
}
}  // namespace

void lower(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  const graph::Node& node = lowering.node(id);
  const Layout layout = common_layout(node, lowering);
  std::vector<Located> pieces;
  for (const graph::NodeId input : node.inputs) {
    for (const graph::NodeId piece : lowering.pieces(input)) pieces.push_back(lowering.value_in(piece, layout));
  }
  join(node, "forward", pieces, lowering.define(id, layout), lowering);
}

Located lower_again(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = lowering.value(id).layout;
  std::vector<Located> pieces;
  for (const graph::NodeId input : node.inputs) {
    for (const graph::NodeId piece : lowering.pieces(input)) pieces.push_back(lowering.value_again(piece, layout));
  }
  const Located dst = lowering.tensor(node.name + "/again", node.shape, layout);
  join(node, "again", pieces, dst, lowering);
  return dst;
}

void lower_backward(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  const graph::Node& node = lowering.node(id);
  const Layout layout = lowering.value(id).layout;
  const Located diff_dst = lowering.gradient(id, layout);
  std::vector<ChannelCopy::Part> parts;
  std::vector<TensorId> writes;
  for (const graph::NodeId input : node.inputs) {
    for (const graph::NodeId piece : lowering.pieces(input)) {
      const Shape& shape = lowering.node(piece).shape;
      const Located diff_src = lowering.gradient_tensor(piece, layout);
      parts.push_back({diff_src.tensor, image_bytes(shape, layout)});
      writes.push_back(diff_src.tensor);
      lowering.contribute(piece, diff_src);
    }
  }
  lowering.emit(
      node,
      {.what = "backward",
       .kind = "concat_backward",
       .pass = Pass::BackwardData,
       .reads = {diff_dst.tensor},
       .writes = std::move(writes),
       .implementation = "copy"},
      std::make_unique<ChannelCopy>(ChannelCopy::Direction::Split, std::move(parts), diff_dst.tensor, node.shape[0]));
}

}  // namespace roentgen::engine::cpu
