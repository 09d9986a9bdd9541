// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// GoogLeNet (Szegedy et al. 2014, arXiv 1409.4842) as torchvision builds it. It takes any image of 32 px or more.
// Parameters with 1000 outputs and 3 channels, auxiliary classifiers included: model_list.h (6.62 million without
// them). Multiply-adds at 224 px: 1.50 G without them. Deviations from the paper, all of them as in torchvision: batch
// norms instead of local response normalisation, and 3x3 kernels where the paper has 5x5. Weights are drawn from a
// normal distribution of sd 0.01 (torchvision cuts it at +-2, 200 sd away). The two auxiliary losses count 0.3 each, as
// in the paper. torchvision's ImageNet weights were trained on inputs (v - 0.5) / 0.5, its `transform_input`. That step
// is preprocessing, not part of the network.
#include <string>

#include "models/conv_block.h"
#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::Builder;
using graph::NodeId;

constexpr graph::Init kInit{.kind = graph::Init::Kind::Normal, .value = 0.01};
constexpr double kAuxiliaryWeight = 0.3;

// Channels of the four branches of an Inception module: 1x1; 1x1 then 3x3; 1x1 then 3x3; max pooling then 1x1.
struct Branches {
  std::int64_t one;
  std::int64_t before_three, three;
  std::int64_t before_five, five;
  std::int64_t pooled;
};

NodeId add_module(Builder& builder, ConvBlocks& blocks, const std::string& name, const Branches& branches, NodeId src) {
  const NodeId one = blocks.add(name + ".branch1", {.channels = branches.one}, src);
  const NodeId three =
      blocks.add_sequence(name + ".branch2.", {{.channels = branches.before_three}, same(branches.three, 3, 3)}, src);
  const NodeId five =
      blocks.add_sequence(name + ".branch3.", {{.channels = branches.before_five}, same(branches.five, 3, 3)}, src);
  const graph::MaxPool pool{.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}, .is_ceil = true};
  const NodeId pooled = blocks.add_sequence(name + ".branch4.", {{.channels = branches.pooled}},
                                            builder.add(name + ".branch4.0", pool, {src}), 1);
  return builder.add(name + ".concat", graph::Concat{}, {one, three, five, pooled});
}

NodeId add_halving(Builder& builder, const std::string& name, std::int64_t kernel, NodeId src) {
  return builder.add(name, graph::MaxPool{.kernel = {kernel, kernel}, .stride = {2, 2}, .is_ceil = true}, {src});
}

graph::Linear linear(std::int64_t out) { return {.out_features = out, .weight_init = kInit}; }

void add_auxiliary(Builder& builder, ConvBlocks& blocks, const std::string& name, const ModelConfig& config,
                   NodeId src) {
  NodeId x = builder.add(name + ".pool", graph::AdaptiveAvgPool{.out = {4, 4}}, {src});
  x = blocks.add(name + ".conv", {.channels = 128}, x);
  x = builder.add(name + ".flatten", graph::Flatten{}, {x});
  x = builder.add(name + ".fc1", linear(scaled(config, 1024)), {x});
  x = builder.add(name + ".relu", graph::Relu{}, {x});
  x = builder.add(name + ".dropout", graph::Dropout{.probability = 0.7}, {x});
  x = builder.add(name + ".fc2", linear(config.labels), {x});
  builder.add(name, graph::Auxiliary{.weight = kAuxiliaryWeight}, {x});
}
}  // namespace

graph::Graph googlenet(const ModelConfig& config) {
  require_plain(config, "googlenet");
  Builder builder(config.name);
  ConvBlocks blocks(builder, config, kInit);
  NodeId x = builder.input("image", {config.batch, config.channels, config.image_px, config.image_px});
  x = blocks.add("conv1", {.channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}}, x);
  x = add_halving(builder, "maxpool1", 3, x);
  x = blocks.add("conv2", {.channels = 64}, x);
  x = blocks.add("conv3", same(192, 3, 3), x);
  x = add_halving(builder, "maxpool2", 3, x);
  const auto module = [&](const std::string& name, const Branches& branches, NodeId src) {
    return add_module(builder, blocks, name, branches, src);
  };
  x = module("inception3a", {64, 96, 128, 16, 32, 32}, x);
  x = module("inception3b", {128, 128, 192, 32, 96, 64}, x);
  x = add_halving(builder, "maxpool3", 3, x);
  const NodeId a = module("inception4a", {192, 96, 208, 16, 48, 64}, x);
  x = module("inception4b", {160, 112, 224, 24, 64, 64}, a);
  x = module("inception4c", {128, 128, 256, 24, 64, 64}, x);
  const NodeId d = module("inception4d", {112, 144, 288, 32, 64, 64}, x);
  x = module("inception4e", {256, 160, 320, 32, 128, 128}, d);
  x = add_halving(builder, "maxpool4", 2, x);
  x = module("inception5a", {256, 160, 320, 32, 128, 128}, x);
  x = module("inception5b", {384, 192, 384, 48, 128, 128}, x);
  if (config.auxiliary) {
    add_auxiliary(builder, blocks, "aux1", config, a);
    add_auxiliary(builder, blocks, "aux2", config, d);
  }
  add_head(builder, x, "fc", linear(config.labels), 0.2);
  return std::move(builder).build();
}

}  // namespace roentgen::models
