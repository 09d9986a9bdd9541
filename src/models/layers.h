// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Groups of nodes that several model families share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/builder.h"
#include "models/model.h"

namespace roentgen::models {

/// Names of the nodes of a stem; the pooling exists in Stem::ImageNet only.
struct StemNames {
  std::string conv;
  std::string norm;
  std::string relu;
  std::string pool;
};

/// The input "image" and the stem on it: convolution to config.width channels without bias, batch norm, ReLU and, for
/// Stem::ImageNet, max pooling. Returns (N, width, px / 4, px / 4), or (N, width, px, px) for Stem::Small.
graph::NodeId add_stem(graph::Builder& builder, const ModelConfig& config, const StemNames& names, graph::Init init);

/// Mean over the image, dropout where it is more than 0, then a linear layer called `name` that gives the output
/// "logits" (N, labels).
void add_head(graph::Builder& builder, graph::NodeId src, const std::string& name, const graph::Linear& linear,
              double dropout = 0.0);

/// Scales `channels`, the number in torchvision's network, by config.width (64: unchanged).
[[nodiscard]] constexpr std::int64_t scaled(const ModelConfig& config, std::int64_t channels) {
  return channels * config.width / 64;
}

/// ConfigError naming the network, `least` and the remedy where the image is smaller.
void require_image(const ModelConfig& config, std::string_view network, std::int64_t least, std::string_view remedy);

/// ConfigError where the settings ask for what only ResNets and DenseNets have: another stem, stride or dilation.
void require_plain(const ModelConfig& config, std::string_view family);

}  // namespace roentgen::models
