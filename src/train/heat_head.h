// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The part of a network that heat-maps start from: the feature map, and the weights of its channels. The structure of
// the graph alone decides, never the name of the model.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::graph {
class Graph;
using NodeId = std::int32_t;  // same as graph/graph.h, which is slow to compile
}  // namespace roentgen::graph

namespace roentgen::train {

/// Method for the weights of the channels.
enum class HeatMethod : std::uint8_t {
  Cam,      ///< weights of the linear layer after a global mean (Zhou et al. 2016): exact shares of the logit
  GradCam,  ///< mean gradient of the logit (Selvaraju et al. 2017), cut off at 0
};

/// "cam", "grad-cam".
[[nodiscard]] std::string_view name_of(HeatMethod method);

/// Feature map whose cells a heat-map shows.
struct HeatHead {
  HeatMethod method = HeatMethod::Cam;  ///< method for the weights of the channels
  /// (N, C, H, W), H * W > 1.
  graph::NodeId features = -1;
  /// Cam: node of the linear layer that gives the logits; else -1.
  graph::NodeId linear = -1;
};

/// Cam where the logits are linear(mean over (H, W) of a value), with flatten and dropout anywhere between. Otherwise
/// GradCam, at the last value with more than one cell on every path from image to logits, before the pooling that
/// follows it. Throws ConfigError when there is no such value.
[[nodiscard]] HeatHead find_heat_head(const graph::Graph& graph);

/// Name of the output that with_features() adds.
inline constexpr std::string_view kFeaturesOutput = "heat.features";

/// The graph with the feature map as one more output; nothing else changes.
[[nodiscard]] graph::Graph with_features(graph::Graph graph, const HeatHead& head);

/// Builds the nodes after the features, for one image and as inference computes them, from ops with a gradient. Input
/// kFeaturesOutput (1, C, H, W), output "logits". Dropout is left out. A batch norm becomes a convolution of each
/// channel by itself, so that its statistics stay constant.
[[nodiscard]] graph::Graph tail_of(const graph::Graph& graph, const HeatHead& head);

}  // namespace roentgen::train
