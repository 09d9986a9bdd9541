// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ResNet-18, 34, 50, 101, 152 (He et al. 2015, arXiv 1512.03385, table 1) as torchvision builds them. Parameters with
// 1000 outputs and 3 channels: model_list.h. Multiply-adds at 224 px: 1.81, 3.66, 4.09, 7.80, 11.51 G.
// Deviations from the paper: stride in the bottleneck's 3x3 convolution ("v1.5"; ResNetStride::V1 is the paper's).
// Initialisation is by fan out (He et al. 2015, arXiv 1502.01852), the last layer by torch's default.
#include <array>
#include <string>

#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::Builder;
using graph::Conv2d;
using graph::NodeId;

enum class BlockKind { Basic, Bottleneck };

constexpr graph::Init kConvInit{.kind = graph::Init::Kind::NormalFanOut};
constexpr std::int64_t kBottleneckExpansion = 4;

// One residual block. `prefix` ends in '.'; the last convolution of its branch has `out_channels` channels.
struct Block {
  std::string prefix;
  std::int64_t inner_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t stride = 1;
  // Dilation of the 3x3 convolutions.
  std::int64_t dilation = 1;
  ResNetStride where = ResNetStride::V1_5;
};

Conv2d convolution(std::int64_t out_channels, std::int64_t kernel, std::int64_t stride, std::int64_t dilation = 1) {
  const std::int64_t pad = kernel / 2 * dilation;
  return {.out_channels = out_channels,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pad = {pad, pad},
          .dilation = {dilation, dilation},
          .bias = false,
          .weight_init = kConvInit};
}

// Adds conv{number} and bn{number}. The caller adds relu{number}, because the last ReLU follows the residual addition.
NodeId add_conv_norm(Builder& builder, const Block& block, int number, const Conv2d& conv, NodeId src) {
  const std::string suffix = std::to_string(number);
  const NodeId convolved = builder.add(block.prefix + "conv" + suffix, conv, {src});
  return builder.add(block.prefix + "bn" + suffix, graph::BatchNorm{}, {convolved});
}

NodeId add_relu(Builder& builder, const Block& block, int number, NodeId src) {
  return builder.add(block.prefix + "relu" + std::to_string(number), graph::Relu{}, {src});
}

// Adds two 3x3 convolutions. Returns the batch norm before the residual addition.
NodeId add_basic_branch(Builder& builder, const Block& block, NodeId src) {
  NodeId x = add_conv_norm(builder, block, 1, convolution(block.inner_channels, 3, block.stride, block.dilation), src);
  x = add_relu(builder, block, 1, x);
  return add_conv_norm(builder, block, 2, convolution(block.out_channels, 3, 1, block.dilation), x);
}

// Adds 1x1, 3x3 and 1x1 convolutions. Returns the batch norm before the residual addition.
NodeId add_bottleneck_branch(Builder& builder, const Block& block, NodeId src) {
  const bool is_v1 = block.where == ResNetStride::V1;
  NodeId x = add_conv_norm(builder, block, 1, convolution(block.inner_channels, 1, is_v1 ? block.stride : 1), src);
  x = add_relu(builder, block, 1, x);
  x = add_conv_norm(builder, block, 2, convolution(block.inner_channels, 3, is_v1 ? 1 : block.stride, block.dilation),
                    x);
  x = add_relu(builder, block, 2, x);
  return add_conv_norm(builder, block, 3, convolution(block.out_channels, 1, 1), x);
}

NodeId add_block(Builder& builder, BlockKind kind, const Block& block, NodeId src) {
  const bool is_basic = kind == BlockKind::Basic;
  const NodeId branch = is_basic ? add_basic_branch(builder, block, src) : add_bottleneck_branch(builder, block, src);
  NodeId shortcut = src;
  if (builder.shape(src) != builder.shape(branch)) {
    const Conv2d projection = convolution(block.out_channels, 1, block.stride);
    shortcut = builder.add(block.prefix + "downsample.0", projection, {src});
    shortcut = builder.add(block.prefix + "downsample.1", graph::BatchNorm{}, {shortcut});
  }
  const NodeId sum = builder.add(block.prefix + "add", graph::Add{}, {branch, shortcut});
  return add_relu(builder, block, is_basic ? 2 : 3, sum);
}

graph::Graph build(const ModelConfig& config, BlockKind kind, const std::array<int, 4>& blocks) {
  Builder builder(config.name);
  NodeId x = add_stem(builder, config, {.conv = "conv1", .norm = "bn1", .relu = "relu", .pool = "maxpool"}, kConvInit);
  const std::size_t first_dilated = blocks.size() - static_cast<std::size_t>(config.dilated_stages);
  std::int64_t dilation = 1;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const bool is_dilated = stage >= first_dilated;
    // The first block of a dilated stage keeps the dilation of the stage before.
    const std::int64_t first_dilation = dilation;
    if (is_dilated) dilation *= 2;
    const std::int64_t inner_channels = config.width << stage;
    for (int i = 0; i < blocks[stage]; ++i) {
      const Block block{.prefix = "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".",
                        .inner_channels = inner_channels,
                        .out_channels = inner_channels * (kind == BlockKind::Basic ? 1 : kBottleneckExpansion),
                        .stride = stage > 0 && i == 0 && !is_dilated ? 2 : 1,
                        .dilation = i == 0 ? first_dilation : dilation,
                        .where = config.stride};
      x = add_block(builder, kind, block, x);
    }
  }
  add_head(builder, x, "fc", {.out_features = config.labels});
  return std::move(builder).build();
}
}  // namespace

graph::Graph resnet18(const ModelConfig& config) { return build(config, BlockKind::Basic, {2, 2, 2, 2}); }
graph::Graph resnet34(const ModelConfig& config) { return build(config, BlockKind::Basic, {3, 4, 6, 3}); }
graph::Graph resnet50(const ModelConfig& config) { return build(config, BlockKind::Bottleneck, {3, 4, 6, 3}); }
graph::Graph resnet101(const ModelConfig& config) { return build(config, BlockKind::Bottleneck, {3, 4, 23, 3}); }
graph::Graph resnet152(const ModelConfig& config) { return build(config, BlockKind::Bottleneck, {3, 8, 36, 3}); }

}  // namespace roentgen::models
