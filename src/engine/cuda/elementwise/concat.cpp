// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of concatenation to a plan: one copy per input in forward and in backward, or none if it is
// virtual.
#include "graph/ops/concat.h"

#include "engine/cuda/elementwise/channel_copy.h"
#include "engine/cuda/plan/lowering.h"

namespace roentgen::engine::cuda {
namespace {
// Channels that one copy moves, without addresses.
struct Part {
  std::int64_t from_begin = 0;
  std::int64_t to_begin = 0;
  std::int64_t count = 0;
  std::int64_t written = 0;
};

Matrix matrix_of(const Located& image, const Addresses& at) {
  return {.values = {image.layout.dtype, at.bytes(image.tensor)},
          .rows = image.shape[0] * pixels(image.shape),
          .channels = padded_channels(image.shape, image.layout)};
}

std::unique_ptr<Kernel> copy_kernel(const Located& from, const Located& to, const Part& part, runtime::Stream* stream) {
  return make_kernel([=](const Addresses& at) {
    const ChannelCopy work{.from = matrix_of(from, at),
                           .to = matrix_of(to, at),
                           .from_begin = part.from_begin,
                           .to_begin = part.to_begin,
                           .count = part.count,
                           .written = part.written};
    return [=] { copy_channels(*stream, work); };
  });
}

void join(const graph::Node& node, const std::string& what, const std::vector<Located>& parts, const Located& dst,
          Lowering& lowering) {
  const std::int64_t channels = padded_channels(dst.shape, dst.layout);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t count = parts[i].shape[1];
    const bool is_last = i + 1 == parts.size();
    lowering.emit(
        node,
        {.what = what,
         .kind = "concat_" + what,
         .reads = {parts[i].tensor},
         .writes = {dst.tensor},
         .implementation = "copy"},
        copy_kernel(parts[i], dst, {.to_begin = begin, .count = count, .written = is_last ? channels - begin : count},
                    lowering.stream()));
    begin += count;
  }
}
}  // namespace

void lower(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  std::vector<Located> parts;
  for (const graph::NodeId input : lowering.node(id).inputs) parts.push_back(lowering.image(input));
  join(lowering.node(id), "forward", parts, lowering.define(id, lowering.image_layout()), lowering);
}

Located lower_again(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = lowering.image_layout();
  std::vector<Located> parts;
  for (const graph::NodeId input : node.inputs) parts.push_back(lowering.value_again(input, layout));
  const Located dst = lowering.tensor(node.name + "/again", node.shape, layout);
  join(node, "again", parts, dst, lowering);
  return dst;
}

void lower_backward(const graph::Concat&, graph::NodeId id, Lowering& lowering) {
  if (lowering.is_virtual(id)) return;
  const graph::Node& node = lowering.node(id);
  const Located diff_dst = lowering.image_gradient(id);
  std::int64_t begin = 0;
  for (const graph::NodeId input : node.inputs) {
    const std::int64_t count = lowering.node(input).shape[1];
    if (lowering.needs_gradient(input)) {
      const Located diff_src = lowering.gradient_tensor(input, lowering.image_layout());
      lowering.emit(
          node,
          {.what = "backward",
           .kind = "concat_backward",
           .pass = Pass::BackwardData,
           .reads = {diff_dst.tensor},
           .writes = {diff_src.tensor},
           .implementation = "copy"},
          copy_kernel(
              diff_dst, diff_src,
              {.from_begin = begin, .count = count, .written = padded_channels(diff_src.shape, diff_src.layout)},
              lowering.stream()));
      lowering.contribute(input, diff_src);
    }
    begin += count;
  }
}

}  // namespace roentgen::engine::cuda
