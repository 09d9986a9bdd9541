// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The building block of GoogLeNet and the Inceptions: convolution, batch norm, ReLU, named as torchvision's
// BasicConv2d.
#pragma once

#include <string>
#include <vector>

#include "graph/builder.h"
#include "models/model.h"

namespace roentgen::models {

/// A convolution with torchvision's number of channels, scaled by config.width. `pad` of half the kernel keeps the
/// image's size.
struct ConvBlock {
  std::int64_t channels = 0;
  graph::Extent kernel{1, 1};
  graph::Extent stride{1, 1};
  graph::Extent pad{0, 0};
};

/// Kernels of a size, padded so that the image keeps its own.
[[nodiscard]] constexpr ConvBlock same(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {.channels = channels, .kernel = {height, width}, .pad = {height / 2, width / 2}};
}
/// 3x3 kernels of stride 2 without padding.
[[nodiscard]] constexpr ConvBlock halving(std::int64_t channels) {
  return {.channels = channels, .kernel = {3, 3}, .stride = {2, 2}};
}

/// Adds blocks to a graph. One thread.
class ConvBlocks {
 public:
  /// `builder` and `config` must outlive it. All convolutions use `init`.
  ConvBlocks(graph::Builder& builder, const ModelConfig& config, graph::Init init)
      : builder_(builder), config_(config), init_(init) {}

  /// "<name>.conv" (without bias), "<name>.bn" (epsilon 1e-3) and "<name>.relu" on `src`.
  graph::NodeId add(const std::string& name, const ConvBlock& block, graph::NodeId src);
  /// Blocks in a row, called by numbers behind `prefix`: "<prefix><first>", "<prefix><first + 1>", ...
  graph::NodeId add_sequence(const std::string& prefix, const std::vector<ConvBlock>& blocks, graph::NodeId src,
                             int first = 0);

 private:
  graph::Builder& builder_;
  const ModelConfig& config_;
  graph::Init init_;
};

}  // namespace roentgen::models
