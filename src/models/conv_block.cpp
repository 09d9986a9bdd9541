// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "models/conv_block.h"

#include "models/layers.h"

namespace roentgen::models {

graph::NodeId ConvBlocks::add(const std::string& name, const ConvBlock& block, graph::NodeId src) {
  constexpr double kEpsilon = 1e-3;
  const graph::NodeId conv = builder_.add(name + ".conv",
                                          graph::Conv2d{.out_channels = scaled(config_, block.channels),
                                                        .kernel = block.kernel,
                                                        .stride = block.stride,
                                                        .pad = block.pad,
                                                        .bias = false,
                                                        .weight_init = init_},
                                          {src});
  const graph::NodeId norm = builder_.add(name + ".bn", graph::BatchNorm{.epsilon = kEpsilon}, {conv});
  return builder_.add(name + ".relu", graph::Relu{}, {norm});
}

graph::NodeId ConvBlocks::add_sequence(const std::string& prefix, const std::vector<ConvBlock>& blocks,
                                       graph::NodeId src, int first) {
  for (const ConvBlock& block : blocks) src = add(prefix + std::to_string(first++), block, src);
  return src;
}

}  // namespace roentgen::models
