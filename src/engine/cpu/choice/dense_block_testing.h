// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A small DenseNet for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {

// Dense block with two layers on `channels` channels. In each layer, the first batch norm is read only by a 1x1
// convolution and the second only by a 3x3 convolution.
[[nodiscard]] inline graph::Graph dense_block(std::int64_t channels) {
  graph::Builder b("dense_block");
  const auto conv = [](std::int64_t out, std::int64_t side) {
    return graph::Conv2d{.out_channels = out, .kernel = {side, side}, .pad = {side / 2, side / 2}, .bias = false};
  };
  graph::NodeId all = b.add("stem", conv(channels, 3), {b.input("image", {2, 3, 9, 7})});
  std::vector<graph::NodeId> features{all};
  for (const std::string layer : {"1", "2"}) {
    graph::NodeId x = b.add("norm_a" + layer, graph::BatchNorm{.relu = true}, {all});
    x = b.add("narrow" + layer, conv(32, 1), {x});
    x = b.add("norm_b" + layer, graph::BatchNorm{.relu = true}, {x});
    features.push_back(b.add("wide" + layer, conv(16, 3), {x}));
    all = b.add("all" + layer, graph::Concat{}, features);
  }
  graph::NodeId x = b.add("last", graph::BatchNorm{.relu = true}, {all});
  x = b.add("flat", graph::Flatten{}, {b.add("pool", graph::GlobalAvgPool{}, {x})});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

}  // namespace roentgen::engine::cpu
