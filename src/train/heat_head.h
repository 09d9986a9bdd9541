// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Where in a network heat-maps come from: the value whose cells they show, and how its channels are weighed. Decided by
// the graph's structure alone, never by a model's name.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::graph {
class Graph;
using NodeId = std::int32_t;  // as graph/graph.h has it, which is slow to compile
}  // namespace roentgen::graph

namespace roentgen::train {

/// How channels are weighed.
enum class HeatMethod : std::uint8_t {
  Cam,      ///< by the weights of the linear layer behind a global mean (Zhou et al. 2016): exact shares of the logit
  GradCam,  ///< by the mean gradient of the logit (Selvaraju et al. 2017), and cut off at 0
};

/// "cam", "grad-cam".
[[nodiscard]] std::string_view name_of(HeatMethod method);

/// The value that maps are made of.
struct HeatHead {
  HeatMethod method = HeatMethod::Cam;  ///< weights of the channels
  /// (N, C, H, W), H * W > 1.
  graph::NodeId features = -1;
  /// Cam: the linear layer that gives the logits; else -1.
  graph::NodeId linear = -1;
};

/// Cam where the logits are linear(mean over (H, W) of a value), with flatten and dropout anywhere between. Else
/// GradCam, at the last value with more than one cell that everything on the way from image to logits passes through,
/// taken before the pooling that follows it. ConfigError when there is no such value, or none with more than one cell.
[[nodiscard]] HeatHead find_heat_head(const graph::Graph& graph);

/// Name of the output that with_features() adds.
inline constexpr std::string_view kFeaturesOutput = "heat.features";

/// The graph with the head's value as one more output; all else stays.
[[nodiscard]] graph::Graph with_features(graph::Graph graph, const HeatHead& head);

/// Nodes behind the features, for one image and as inference computes them, but built of ops that a gradient passes
/// through: input kFeaturesOutput (1, C, H, W), output "logits". Dropout is left out; a batch norm is a convolution of
/// each channel by itself, so that its statistics stay what they are.
[[nodiscard]] graph::Graph tail_of(const graph::Graph& graph, const HeatHead& head);

}  // namespace roentgen::train
