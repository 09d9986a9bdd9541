// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the feature map of a network for heat-maps, and how its channels are weighted. Only the structure of the graph
// decides, never the name of the model.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::graph {
class Graph;
using NodeId = std::int32_t;  // same as graph/graph.h, which is slow to compile
}  // namespace roentgen::graph

namespace roentgen::train {

/// Method that weights the channels of a feature map.
enum class HeatMethod : std::uint8_t {
  Cam,      ///< weights of the linear layer after a global mean (Zhou et al. 2016); the cells add up to the logit
  GradCam,  ///< mean gradient of the logit (Selvaraju et al. 2017), negative results set to 0
};

/// Name of the method: "cam" or "grad-cam".
[[nodiscard]] std::string_view name_of(HeatMethod method);

/// Feature map that a heat map shows, and the method for its channels.
struct HeatHead {
  HeatMethod method = HeatMethod::Cam;  ///< method that weights the channels
  /// Node of the feature map: (N, C, H, W) with H * W > 1.
  graph::NodeId features = -1;
  /// Node of the linear layer that gives the logits, for Cam; else -1.
  graph::NodeId linear = -1;
};

/// Chooses Cam if the logits are linear(mean over (H, W) of a value), with flatten and dropout allowed anywhere
/// between. Otherwise chooses GradCam, at the last value that has more than one cell and lies on every path from image
/// to logits. This is the value before any final pooling. Throws ConfigError if there is no such value.
[[nodiscard]] HeatHead find_heat_head(const graph::Graph& graph);

/// Name of the output that with_features() adds to a graph.
inline constexpr std::string_view kFeaturesOutput = "heat.features";

/// Returns the graph with the feature map as an additional output; nothing else changes.
[[nodiscard]] graph::Graph with_features(graph::Graph graph, const HeatHead& head);

/// Builds the nodes that follow the feature map, for one image in inference, from ops that have a gradient. Input is
/// kFeaturesOutput (1, C, H, W), output "logits". Dropout is omitted. A batch norm becomes a depthwise convolution, so
/// that its statistics stay constant.
[[nodiscard]] graph::Graph tail_of(const graph::Graph& graph, const HeatHead& head);

}  // namespace roentgen::train
