// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Builds the graph of a model from its name and settings. Families have files of their own (resnet.cpp, densenet.cpp,
// ...); model_list.h lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace roentgen::models {

/// First layers of a ResNet or DenseNet; the other families have only one form.
enum class Stem : std::uint8_t {
  ImageNet,  ///< 7x7 convolution of stride 2, 3x3 max pooling of stride 2: torchvision's; for 128 px and more
  Small,     ///< 3x3 convolution of stride 1, no pooling: keeps four times the resolution; for little images
};

/// Convolution of a ResNet's bottleneck that halves the image. Blocks of two 3x3 convolutions are alike in both.
enum class ResNetStride : std::uint8_t {
  V1_5,  ///< stride in the 3x3 convolution, as torchvision
  V1,    ///< stride in the first 1x1 convolution: He et al. 2015
};

/// Settings of a model. The names of parameters depend on `name` only.
struct ModelConfig {
  /// Name of the model, one of model_names().
  std::string name = "densenet121";
  /// Outputs.
  std::int64_t labels = 14;
  /// 1 (gray) or 3.
  std::int64_t channels = 1;
  /// Side of the square input, 32 or more.
  std::int64_t image_px = 224;
  std::int64_t batch = 16;  ///< images at a time
  /// Channels after the stem, a multiple of 8; all others scale with it (DenseNet's growth is half of it, VGG's hidden
  /// layers 64 of it). 64: torchvision's.
  std::int64_t width = 64;
  Stem stem = Stem::ImageNet;                ///< first layers
  ResNetStride stride = ResNetStride::V1_5;  ///< place where a bottleneck halves the image
  /// Number of last stages (0 to 3) that keep the image's size. Their 3x3 convolutions are dilated by the strides they
  /// replace (Chen et al. 2017, arXiv 1706.05587; torchvision's replace_stride_with_dilation). Heat-maps become finer
  /// at more arithmetic, with the same parameters. ResNets and DenseNets only.
  std::int64_t dilated_stages = 0;
  /// Auxiliary classifiers of the networks that have them (GoogLeNet, Inception-v3); only training computes them.
  bool auxiliary = true;
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// Builds the network: input "image" (batch, channels, image_px, image_px), output "logits" (batch, labels). Names,
/// shapes and order of parameters are torchvision's, so public weights load by name.
/// Throws ConfigError for an unknown model (naming the known ones) or a setting out of range.
[[nodiscard]] graph::Graph build_model(const ModelConfig& config);

/// Names of all models, in the order of model_list.h.
[[nodiscard]] std::vector<std::string_view> model_names();

/// Trained parameters of a model as torchvision builds it: 1000 outputs, 3 channels. ConfigError for an unknown model.
[[nodiscard]] std::int64_t torchvision_parameter_count(std::string_view name);

/// Side of the images that a model was made for, px. ConfigError for an unknown model.
[[nodiscard]] std::int64_t own_image_px(std::string_view name);

/// Description of a model in one line. Throws ConfigError for an unknown model.
[[nodiscard]] std::string_view model_summary(std::string_view name);

/// Parses a recipe's word: "imagenet" or "small"; "v1.5" or "v1". Throws ConfigError for others.
[[nodiscard]] Stem parse_stem(std::string_view word);
[[nodiscard]] ResNetStride parse_resnet_stride(std::string_view word);  ///< "v1.5" or "v1"; others: ConfigError

}  // namespace roentgen::models
