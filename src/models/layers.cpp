// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "models/layers.h"

#include "core/error.h"

namespace roentgen::models {

graph::NodeId add_stem(graph::Builder& builder, const ModelConfig& config, const StemNames& names, graph::Init init) {
  const bool is_small = config.stem == Stem::Small;
  const std::int64_t kernel = is_small ? 3 : 7;
  const std::int64_t stride = is_small ? 1 : 2;
  const graph::NodeId image = builder.input("image", {config.batch, config.channels, config.image_px, config.image_px});
  const graph::NodeId conv = builder.add(names.conv,
                                         graph::Conv2d{.out_channels = config.width,
                                                       .kernel = {kernel, kernel},
                                                       .stride = {stride, stride},
                                                       .pad = {kernel / 2, kernel / 2},
                                                       .bias = false,
                                                       .weight_init = init},
                                         {image});
  const graph::NodeId norm = builder.add(names.norm, graph::BatchNorm{}, {conv});
  const graph::NodeId relu = builder.add(names.relu, graph::Relu{}, {norm});
  if (is_small) return relu;
  return builder.add(names.pool, graph::MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, {relu});
}

void add_head(graph::Builder& builder, graph::NodeId src, const std::string& name, const graph::Linear& linear,
              double dropout) {
  const graph::NodeId pooled = builder.add("avgpool", graph::GlobalAvgPool{}, {src});
  graph::NodeId flat = builder.add("flatten", graph::Flatten{}, {pooled});
  if (dropout > 0.0) flat = builder.add("dropout", graph::Dropout{.probability = dropout}, {flat});
  builder.output("logits", builder.add(name, linear, {flat}));
}

void require_image(const ModelConfig& config, std::string_view network, std::int64_t least, std::string_view remedy) {
  if (config.image_px >= least) return;
  throw ConfigError(error_text("models.model", "image size of " + std::string(network),
                               "at least " + std::to_string(least) + " px", std::to_string(config.image_px), remedy));
}

void require_plain(const ModelConfig& config, std::string_view family) {
  const auto refuse = [&](std::string_view what, std::string_view got, std::string_view remedy) {
    throw ConfigError(
        error_text("models." + std::string(family), what, "the default, the only value for this network", got, remedy));
  };
  if (config.stem != Stem::ImageNet) refuse("stem", "small", "--set model.stem=imagenet");
  if (config.stride != ResNetStride::V1_5) refuse("stride", "v1", "--set model.resnet=v1.5");
  if (config.dilated_stages != 0) {
    refuse("dilated stages", std::to_string(config.dilated_stages), "--set model.dilated_stages=0");
  }
}

}  // namespace roentgen::models
