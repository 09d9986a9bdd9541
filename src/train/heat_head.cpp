// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/heat_head.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "graph/builder.h"
#include "graph/graph.h"

namespace roentgen::train {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

template <typename Op>
bool is(const Node& node) {
  return std::holds_alternative<Op>(node.op);
}

std::int64_t cells_of(const Node& node) { return node.shape.rank() == 4 ? node.shape[2] * node.shape[3] : 0; }

// Returns true for the two ops that average each channel over (H, W).
bool is_global_mean(const Graph& graph, const Node& node) {
  if (is<graph::GlobalAvgPool>(node)) return true;
  const auto* pool = std::get_if<graph::AvgPool>(&node.op);
  if (pool == nullptr || cells_of(node) != 1) return false;
  const Shape& source = graph.node(node.inputs[0]).shape;
  return pool->kernel == graph::Extent{source[2], source[3]} && pool->pad == graph::Extent{0, 0};
}

NodeId skip_back(const Graph& graph, NodeId id) {
  while (is<graph::Dropout>(graph.node(id)) || is<graph::Flatten>(graph.node(id))) id = graph.node(id).inputs[0];
  return id;
}

// If `linear` reads a global mean, returns the input of the mean; else -1.
NodeId pooled_value(const Graph& graph, NodeId linear) {
  if (!is<graph::Linear>(graph.node(linear))) return -1;
  const NodeId mean = skip_back(graph, graph.node(linear).inputs[0]);
  return is_global_mean(graph, graph.node(mean)) ? graph.node(mean).inputs[0] : -1;
}

// Returns true if a path leads from `from` back to an input of the graph without passing `avoided`.
bool reaches_input(const Graph& graph, NodeId from, NodeId avoided) {
  std::vector<bool> is_met(graph.nodes().size(), false);
  std::vector<NodeId> open{from};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == avoided || is_met[static_cast<std::size_t>(id)]) continue;
    is_met[static_cast<std::size_t>(id)] = true;
    const Node& node = graph.node(id);
    if (node.is_input()) return true;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return false;
}

NodeId before_pooling(const Graph& graph, NodeId id) {
  const auto is_pool = [](const Node& node) {
    return is<graph::MaxPool>(node) || is<graph::AvgPool>(node) || is<graph::AdaptiveAvgPool>(node);
  };
  while (is_pool(graph.node(id)) && !graph.node(graph.node(id).inputs[0]).is_input()) id = graph.node(id).inputs[0];
  return id;
}

[[noreturn]] void refuse(const Graph& graph, std::string_view got) {
  throw ConfigError(error_text("train.heatmap", graph.name(), "a network with a feature map for heat-maps", got,
                               "predicting without --heatmap, --out, --boxes and --masks"));
}

// Adds a batch norm with constant statistics, as a convolution with one factor and one offset per channel.
NodeId add_frozen_norm(graph::Builder& builder, const Node& node, const std::vector<NodeId>& inputs) {
  const std::int64_t C = node.shape[1];
  NodeId id = builder.add(node.name, graph::Conv2d{.out_channels = C, .groups = C}, {inputs[0]});
  if (inputs.size() > 1) id = builder.add(node.name + ".heat_add", graph::Add{}, {id, inputs[1]});
  if (std::get<graph::BatchNorm>(node.op).relu) id = builder.add(node.name + ".heat_relu", graph::Relu{}, {id});
  return id;
}

}  // namespace

std::string_view name_of(HeatMethod method) { return method == HeatMethod::Cam ? "cam" : "grad-cam"; }

HeatHead find_heat_head(const Graph& graph) {
  const NodeId logits = graph.output("logits");
  RG_ASSERT(logits >= 0);
  if (const NodeId features = pooled_value(graph, logits); features >= 0) {
    if (cells_of(graph.node(features)) <= 1) refuse(graph, "a last feature map of 1x1, because the image is too small");
    return {.method = HeatMethod::Cam, .features = features, .linear = logits};
  }
  for (NodeId id = logits; id >= 0; --id) {
    const Node& node = graph.node(id);
    if (node.is_input() || cells_of(node) <= 1 || reaches_input(graph, logits, id)) continue;
    return {.method = HeatMethod::GradCam, .features = before_pooling(graph, id), .linear = -1};
  }
  refuse(graph, "no feature map that all paths through the network pass");
}

Graph with_features(Graph graph, const HeatHead& head) {
  graph::Builder builder(std::move(graph));
  builder.output(std::string(kFeaturesOutput), head.features);
  return std::move(builder).build();
}

Graph tail_of(const Graph& graph, const HeatHead& head) {
  const NodeId logits = graph.output("logits");
  std::vector<bool> is_needed(graph.nodes().size(), false);
  is_needed[static_cast<std::size_t>(logits)] = true;
  for (NodeId id = logits; id > head.features; --id) {
    if (!is_needed[static_cast<std::size_t>(id)]) continue;
    for (const NodeId input : graph.node(id).inputs) is_needed[static_cast<std::size_t>(input)] = true;
  }
  graph::Builder builder("tail");
  const Shape& shape = graph.node(head.features).shape;
  std::vector<NodeId> moved(graph.nodes().size(), -1);
  moved[static_cast<std::size_t>(head.features)] =
      builder.input(std::string(kFeaturesOutput), {1, shape[1], shape[2], shape[3]});
  for (NodeId id = head.features + 1; id <= logits; ++id) {
    if (!is_needed[static_cast<std::size_t>(id)]) continue;
    const Node& node = graph.node(id);
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(moved[static_cast<std::size_t>(input)]);
    NodeId& place = moved[static_cast<std::size_t>(id)];
    if (is<graph::Dropout>(node)) {
      place = inputs[0];
    } else if (is<graph::BatchNorm>(node)) {
      place = add_frozen_norm(builder, node, inputs);
    } else {
      place = builder.add(node.name, node.op, inputs);
    }
  }
  builder.output("logits", moved[static_cast<std::size_t>(logits)]);
  return std::move(builder).build();
}

}  // namespace roentgen::train
