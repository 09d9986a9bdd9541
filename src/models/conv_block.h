// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The building block of GoogLeNet and the Inception networks: convolution, batch norm and ReLU. Nodes are named as in
// torchvision's BasicConv2d.
#pragma once

#include <string>
#include <vector>

#include "graph/builder.h"
#include "models/model.h"

namespace roentgen::models {

/// Settings of a convolution block. `channels` is the number in torchvision's network; it is scaled by config.width. A
/// `pad` of half the kernel keeps the image's size.
struct ConvBlock {
  std::int64_t channels = 0;
  graph::Extent kernel{1, 1};
  graph::Extent stride{1, 1};
  graph::Extent pad{0, 0};
};

/// Convolution block of stride 1, padded so that the image keeps its size.
[[nodiscard]] constexpr ConvBlock same(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {.channels = channels, .kernel = {height, width}, .pad = {height / 2, width / 2}};
}
/// Convolution block with 3x3 kernels of stride 2 and no padding.
[[nodiscard]] constexpr ConvBlock halving(std::int64_t channels) {
  return {.channels = channels, .kernel = {3, 3}, .stride = {2, 2}};
}

/// Adds convolution blocks to a graph. For use by one thread.
class ConvBlocks {
 public:
  /// `builder` and `config` must outlive this object. All convolutions are initialised by `init`.
  ConvBlocks(graph::Builder& builder, const ModelConfig& config, graph::Init init)
      : builder_(builder), config_(config), init_(init) {}

  /// Adds "<name>.conv" (without bias), "<name>.bn" (epsilon 1e-3) and "<name>.relu" on `src`. Returns the ReLU.
  graph::NodeId add(const std::string& name, const ConvBlock& block, graph::NodeId src);
  /// Adds a chain of blocks, named by `prefix` and a number: "<prefix><first>", "<prefix><first + 1>", ... Returns the
  /// last.
  graph::NodeId add_sequence(const std::string& prefix, const std::vector<ConvBlock>& blocks, graph::NodeId src,
                             int first = 0);

 private:
  graph::Builder& builder_;
  const ModelConfig& config_;
  graph::Init init_;
};

}  // namespace roentgen::models
