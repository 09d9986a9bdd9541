// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of concatenation to a plan: one copy in forward and one in backward, or none if it is virtual.
#include "graph/ops/concat.h"

#include <algorithm>

#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
// Copies channels between one wide tensor and several narrow tensors, all with the same block size.
class ChannelCopy final : public Kernel {
 public:
  enum class Direction { Join, Split };
  ChannelCopy(Direction direction, std::vector<Located> parts, const Located& wide)
      : direction_(direction), parts_(std::move(parts)), wide_(wide), addresses_(parts_.size()) {}
  void bind(const Addresses& addresses) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) addresses_[i] = addresses.bytes(parts_[i].tensor);
    base_ = addresses.bytes(wide_.tensor);
  }
  void run() override {
    parallel_ranges(omp_get_max_threads(), wide_.shape[0], 1, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) {
        std::byte* wide = base_ + image * image_bytes(wide_);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
          const std::int64_t bytes = image_bytes(parts_[i]);
          std::byte* narrow = addresses_[i] + image * bytes;
          const bool is_join = direction_ == Direction::Join;
          std::copy_n(is_join ? narrow : wide, bytes, is_join ? wide : narrow);
          wide += bytes;
        }
      }
    });
  }

 private:
  static std::int64_t image_bytes(const Located& value) {
    return static_cast<std::int64_t>(stored_bytes(value.shape, value.layout)) / value.shape[0];
  }

  Direction direction_;
  std::vector<Located> parts_;
  Located wide_;
  std::vector<std::byte*> addresses_;
  std::byte* base_ = nullptr;
};

// Stored values that a concatenation joins, in order.
std::vector<graph::NodeId> joined(graph::NodeId id, const Lowering& lowering) {
  std::vector<graph::NodeId> all;
  for (const graph::NodeId input : lowering.node(id).inputs) {
    all.insert(all.end(), lowering.pieces(input).begin(), lowering.pieces(input).end());
  }
  return all;
}

// Layout in which all inputs can be concatenated: the machine's blocks if every input has whole blocks, else plain.
Layout common_layout(const std::vector<graph::NodeId>& pieces, const Lowering& lowering) {
  const Layout wanted = lowering.vector_layout();
  const bool fits = std::ranges::all_of(pieces, [&](graph::NodeId piece) {
    return lowering.value(piece).layout.block == wanted.block && lowering.node(piece).shape[1] % wanted.block == 0;
  });
  return fits ? wanted : Layout{};
}

std::vector<TensorId> tensors_of(const std::vector<Located>& values) {
  std::vector<TensorId> tensors;
  for (const Located& value : values) tensors.push_back(value.tensor);
  return tensors;
}

void join(const graph::Node& node, const std::string& what, const std::vector<Located>& pieces, const Located& dst,
          Lowering& lowering) {
  lowering.emit(node,
                {.what = what,
                 .kind = "concat_" + what,
                 .reads = tensors_of(pieces),
                 .writes = {dst.tensor},
                 .implementation = "copy"},
                std::make_unique<ChannelCopy>(ChannelCopy::Direction::Join, pieces, dst));
}
}  // namespace

void lower(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  const std::vector<graph::NodeId> inputs = joined(id, lowering);
  const Layout layout = common_layout(inputs, lowering);
  std::vector<Located> pieces;
  for (const graph::NodeId piece : inputs) pieces.push_back(lowering.value_in(piece, layout));
  join(lowering.node(id), "forward", pieces, lowering.define(id, layout), lowering);
}

Located lower_again(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = lowering.value(id).layout;
  std::vector<Located> pieces;
  for (const graph::NodeId piece : joined(id, lowering)) pieces.push_back(lowering.value_again(piece, layout));
  const Located dst = lowering.tensor(node.name + "/again", node.shape, layout);
  join(node, "again", pieces, dst, lowering);
  return dst;
}

void lower_backward(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  const Layout layout = lowering.value(id).layout;
  const Located diff_dst = lowering.gradient(id, layout);
  std::vector<Located> parts;
  for (const graph::NodeId piece : joined(id, lowering)) {
    parts.push_back(lowering.gradient_tensor(piece, layout));
    lowering.contribute(piece, parts.back());
  }
  lowering.emit(lowering.node(id),
                {.what = "backward",
                 .kind = "concat_backward",
                 .pass = Pass::BackwardData,
                 .reads = {diff_dst.tensor},
                 .writes = tensors_of(parts),
                 .implementation = "copy"},
                std::make_unique<ChannelCopy>(ChannelCopy::Direction::Split, parts, diff_dst));
}

}  // namespace roentgen::engine::cpu
