// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DenseNet-121, 169, 201 (Huang et al. 2017, arXiv 1608.06993: "BC" with growth 32, bottleneck 4, compression 1/2) as
// torchvision builds them. Parameters with 1000 outputs and 3 channels: model_list.h; multiply-adds at 224 px: 2.83,
// 3.36, 4.29 G. Every layer concatenates all features of its block afresh; the engine never stores those concats.
// Deviations from the paper: none known; initialisation by fan in (He et al. 2015, arXiv 1502.01852), the last layer by
// torch's default with zero bias.
#include <array>
#include <string>
#include <vector>

#include "core/error.h"
#include "models/layers.h"
#include "models/model_list.h"

namespace roentgen::models {
namespace {
using graph::Builder;
using graph::Conv2d;
using graph::NodeId;

constexpr graph::Init kConvInit{.kind = graph::Init::Kind::NormalFanIn};
constexpr std::int64_t kBottleneck = 4;

Conv2d convolution(std::int64_t out_channels, std::int64_t kernel, std::int64_t dilation = 1) {
  const std::int64_t pad = kernel / 2 * dilation;
  return {.out_channels = out_channels,
          .kernel = {kernel, kernel},
          .pad = {pad, pad},
          .dilation = {dilation, dilation},
          .bias = false,
          .weight_init = kConvInit};
}

// Concatenates the features of a block; a single feature is returned unchanged.
NodeId add_concat(Builder& builder, const std::string& name, const std::vector<NodeId>& features) {
  return features.size() == 1 ? features[0] : builder.add(name, graph::Concat{}, features);
}

// Sizes of the layers of one dense block.
struct Layers {
  std::int64_t growth = 32;
  std::int64_t dilation = 1;
};

// Adds norm, ReLU, 1x1 convolution to 4 * growth channels, norm, ReLU, 3x3 convolution to `growth` channels. `prefix`
// ends in '.'.
NodeId add_layer(Builder& builder, const std::string& prefix, const Layers& layers,
                 const std::vector<NodeId>& features) {
  NodeId x = add_concat(builder, prefix + "concat", features);
  x = builder.add(prefix + "norm1", graph::BatchNorm{}, {x});
  x = builder.add(prefix + "relu1", graph::Relu{}, {x});
  x = builder.add(prefix + "conv1", convolution(kBottleneck * layers.growth, 1), {x});
  x = builder.add(prefix + "norm2", graph::BatchNorm{}, {x});
  x = builder.add(prefix + "relu2", graph::Relu{}, {x});
  return builder.add(prefix + "conv2", convolution(layers.growth, 3, layers.dilation), {x});
}

// Adds a transition, which halves the channels and, if `is_pooled`, the image. The image keeps its size before a
// dilated block.
NodeId add_transition(Builder& builder, const std::string& prefix, bool is_pooled, NodeId src) {
  NodeId x = builder.add(prefix + "norm", graph::BatchNorm{}, {src});
  x = builder.add(prefix + "relu", graph::Relu{}, {x});
  x = builder.add(prefix + "conv", convolution(builder.shape(x)[1] / 2, 1), {x});
  if (!is_pooled) return x;
  return builder.add(prefix + "pool", graph::AvgPool{.kernel = {2, 2}, .stride = {2, 2}}, {x});
}

graph::Graph build(const ModelConfig& config, const std::array<int, 4>& layers) {
  if (config.stride != ResNetStride::V1_5) {
    throw ConfigError(error_text("models.densenet", "model.resnet", "v1.5, because only ResNets have the variant v1",
                                 "v1", "--set model.resnet=v1.5"));
  }
  Builder builder(config.name);
  NodeId x =
      add_stem(builder, config,
               {.conv = "features.conv0", .norm = "features.norm0", .relu = "features.relu0", .pool = "features.pool0"},
               kConvInit);
  const std::size_t first_dilated = layers.size() - static_cast<std::size_t>(config.dilated_stages);
  Layers block_layers{.growth = config.width / 2};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i >= first_dilated) block_layers.dilation *= 2;
    const std::string number = std::to_string(i + 1);
    const std::string block = "features.denseblock" + number + ".";
    std::vector<NodeId> features{x};
    for (int layer = 1; layer <= layers[i]; ++layer) {
      const std::string prefix = block + "denselayer" + std::to_string(layer) + ".";
      features.push_back(add_layer(builder, prefix, block_layers, features));
    }
    x = add_concat(builder, block + "concat", features);
    if (i + 1 == layers.size()) break;
    x = add_transition(builder, "features.transition" + number + ".", i + 1 < first_dilated, x);
  }
  x = builder.add("features.norm5", graph::BatchNorm{}, {x});
  x = builder.add("features.relu5", graph::Relu{}, {x});
  add_head(builder, x, "classifier", {.out_features = config.labels, .bias_init = {}});
  return std::move(builder).build();
}
}  // namespace

graph::Graph densenet121(const ModelConfig& config) { return build(config, {6, 12, 24, 16}); }
graph::Graph densenet169(const ModelConfig& config) { return build(config, {6, 12, 32, 32}); }
graph::Graph densenet201(const ModelConfig& config) { return build(config, {6, 12, 48, 32}); }

}  // namespace roentgen::models
