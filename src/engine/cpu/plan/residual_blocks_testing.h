// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Small network of residual blocks, for tests of work that is fused into kernels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::engine::cpu {

/// Network of four blocks, each with a residual: two bottlenecks, a block of 3x3 convolutions, and a single convolution
/// whose input is also its residual.
inline graph::Graph residual_blocks() {
  graph::Builder b("residual_blocks");
  const auto conv = [](std::int64_t channels, std::int64_t side) {
    return graph::Conv2d{.out_channels = channels, .kernel = {side, side}, .pad = {side / 2, side / 2}, .bias = false};
  };
  const graph::NodeId image = b.input("image", {3, 3, 9, 7});
  graph::NodeId x = b.add("start", graph::BatchNorm{.relu = true}, {b.add("stem", conv(32, 3), {image})});
  const auto layer = [&](const std::string& name, std::int64_t channels, std::int64_t side, graph::NodeId from) {
    return b.add(name + "_norm", graph::BatchNorm{.relu = true}, {b.add(name, conv(channels, side), {from})});
  };
  for (const std::string block : {"1", "2", "3"}) {
    const std::int64_t side = block == "3" ? 3 : 1;
    graph::NodeId inner = layer("in" + block, 16, side, x);
    if (side == 1) inner = layer("mid" + block, 16, 3, inner);
    x = b.add("join" + block, graph::BatchNorm{.relu = true}, {b.add("out" + block, conv(32, side), {inner}), x});
  }
  x = b.add("join4", graph::BatchNorm{.relu = true}, {b.add("out4", conv(32, 1), {x}), x});
  x = b.add("pool", graph::GlobalAvgPool{}, {x});
  x = b.add("flat", graph::Flatten{}, {x});
  b.output("logits", b.add("fc", graph::Linear{.out_features = 3}, {x}));
  return graph::with_loss(std::move(b).build(), {});
}

}  // namespace roentgen::engine::cpu
