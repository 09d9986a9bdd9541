// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "models/layers.h"

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

void add_head(graph::Builder& builder, graph::NodeId src, const std::string& name, const graph::Linear& linear) {
  const graph::NodeId pooled = builder.add("avgpool", graph::GlobalAvgPool{}, {src});
  const graph::NodeId flat = builder.add("flatten", graph::Flatten{}, {pooled});
  builder.output("logits", builder.add(name, linear, {flat}));
}

}  // namespace roentgen::models
