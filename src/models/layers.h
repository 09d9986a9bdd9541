// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Builds groups of nodes that several model families share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/builder.h"
#include "models/model.h"

namespace roentgen::models {

/// Node names of a network's first layers; the pooling exists in Stem::ImageNet only.
struct StemNames {
  std::string conv;
  std::string norm;
  std::string relu;
  std::string pool;
};

/// Adds the input "image" and the first layers: convolution to config.width channels without bias, batch norm, ReLU
/// and, for Stem::ImageNet, max pooling. Returns (N, width, px / 4, px / 4), or (N, width, px, px) for Stem::Small.
graph::NodeId add_stem(graph::Builder& builder, const ModelConfig& config, const StemNames& names, graph::Init init);

/// Adds the mean over the image, dropout if its rate is above 0, and a linear layer called `name`. Its output is
/// "logits" (N, labels).
void add_head(graph::Builder& builder, graph::NodeId src, const std::string& name, const graph::Linear& linear,
              double dropout = 0.0);

/// Scales a number of channels in torchvision's network by config.width / 64.
[[nodiscard]] constexpr std::int64_t scaled(const ModelConfig& config, std::int64_t channels) {
  return channels * config.width / 64;
}

/// Throws ConfigError that names the network, `least` and the remedy if the image is smaller than `least`.
void require_image(const ModelConfig& config, std::string_view network, std::int64_t least, std::string_view remedy);

/// Throws ConfigError if the settings ask for another stem, stride or dilation, which only ResNets and DenseNets
/// support.
void require_plain(const ModelConfig& config, std::string_view family);

}  // namespace roentgen::models
