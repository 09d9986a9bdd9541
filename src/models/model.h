// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Builds the graph of a model from its name and settings. Each model family has its own file (resnet.cpp, densenet.cpp,
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
  ImageNet,  ///< 7x7 convolution of stride 2, 3x3 max pooling of stride 2, as torchvision; for 128 px and more
  Small,     ///< 3x3 convolution of stride 1, no pooling: keeps four times the resolution; for small images
};

/// Position of the stride in a ResNet bottleneck that halves the image. Basic blocks of two 3x3 convolutions are the
/// same for both values.
enum class ResNetStride : std::uint8_t {
  V1_5,  ///< stride in the 3x3 convolution, as in torchvision
  V1,    ///< stride in the first 1x1 convolution, as in He et al. 2015
};

/// Settings of a model. The names of its parameters depend on `name` only.
struct ModelConfig {
  /// Name of the model, one of model_names().
  std::string name = "densenet121";
  /// Number of outputs.
  std::int64_t labels = 14;
  /// Number of input channels: 1 (gray) or 3.
  std::int64_t channels = 1;
  /// Side of the square input image, px; 32 or more.
  std::int64_t image_px = 224;
  std::int64_t batch = 16;  ///< images in a batch
  /// Number of channels after the first layers, a multiple of 8; 64 is torchvision's. All other channels scale with it
  /// (DenseNet's growth is width / 2, VGG's hidden layers have 64 * width units).
  std::int64_t width = 64;
  Stem stem = Stem::ImageNet;                ///< first layers
  ResNetStride stride = ResNetStride::V1_5;  ///< position of the stride in a bottleneck
  /// Number of last stages (0 to 3) that keep the image's size. Their 3x3 convolutions are dilated by the strides they
  /// replace (Chen et al. 2017, arXiv 1706.05587; torchvision's replace_stride_with_dilation). Heat-maps become finer
  /// at more arithmetic, with the same parameters. ResNets and DenseNets only.
  std::int64_t dilated_stages = 0;
  /// True: builds the auxiliary classifiers of GoogLeNet and Inception-v3, which only training computes.
  bool auxiliary = true;
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// Builds the network: input "image" (batch, channels, image_px, image_px), output "logits" (batch, labels). Names,
/// shapes and order of parameters are those of torchvision, so that public weights load by name. Throws ConfigError for
/// an unknown model (naming the known ones) or a setting out of range.
[[nodiscard]] graph::Graph build_model(const ModelConfig& config);

/// Names of all models, in the order of model_list.h.
[[nodiscard]] std::vector<std::string_view> model_names();

/// Number of trained parameters of a model as torchvision builds it, with 1000 outputs and 3 channels. Throws
/// ConfigError for an unknown model.
[[nodiscard]] std::int64_t torchvision_parameter_count(std::string_view name);

/// Side of the images that the model was designed for, px. Throws ConfigError for an unknown model.
[[nodiscard]] std::int64_t own_image_px(std::string_view name);

/// Description of a model in one line. Throws ConfigError for an unknown model.
[[nodiscard]] std::string_view model_summary(std::string_view name);

/// Parses the recipe value "imagenet" or "small". Throws ConfigError for other texts.
[[nodiscard]] Stem parse_stem(std::string_view word);
[[nodiscard]] ResNetStride parse_resnet_stride(std::string_view word);  ///< parses "v1.5" or "v1"; throws ConfigError

}  // namespace roentgen::models
