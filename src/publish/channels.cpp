// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "publish/channels.h"

#include <algorithm>
#include <variant>

#include "core/error.h"
#include "graph/builder.h"
#include "graph/text.h"

namespace roentgen::publish {
namespace {

// Returns the convolution that reads the input image. Throws ConfigError unless it is the only layer that reads the
// image.
const graph::Node& first_convolution(const graph::Graph& graph) {
  const graph::NodeId image = graph.find("image");
  if (image >= 0) {
    const std::vector<graph::NodeId> readers = graph.consumers()[static_cast<std::size_t>(image)];
    if (readers.size() == 1) {
      const auto* convolution = std::get_if<graph::Conv2d>(&graph.node(readers[0]).op);
      if (convolution != nullptr && convolution->groups == 1) return graph.node(readers[0]);
    }
  }
  throw ConfigError(error_text("publish.channels", graph.name(),
                               "a network whose first layer is one convolution without groups", "another network",
                               "leaving out --channels"));
}

// Replaces the number of channels in the graph text: in the line "input image", the only line that contains it.
std::string with_image_channels(const std::string& text, int channels) {
  const std::string from = "input image (N, 1, ";
  const std::size_t at = text.find(from);
  RG_ASSERT(at != std::string::npos);
  return text.substr(0, at) + "input image (N, " + std::to_string(channels) + ", " + text.substr(at + from.size());
}
}  // namespace

void unfold_channels(int channels, train::CheckpointInfo& info, data::Preprocess& preprocess,
                     std::vector<train::NamedTensor>& weights) {
  if (channels == preprocess.channels) return;
  if (channels != 3) {
    throw ConfigError(
        error_text("publish.channels", "--channels",
                   "3, or the number of the network's channels (" + std::to_string(preprocess.channels) + ")",
                   std::to_string(channels), "--channels 3"));
  }
  const graph::Graph graph =
      graph::parse_graph(info.graph, "graph of the checkpoint", {.batch = 1}).or_throw<ConfigError>();
  const std::string name = first_convolution(graph).name + ".weight";
  const auto tensor = std::ranges::find(weights, name, &train::NamedTensor::name);
  RG_ASSERT(tensor != weights.end() && tensor->shape[1] == 1);
  const std::int64_t OC = tensor->shape[0];
  const std::size_t taps = tensor->values.size() / static_cast<std::size_t>(OC);
  std::vector<float> unfolded;
  unfolded.reserve(3 * tensor->values.size());
  for (std::size_t o = 0; o < static_cast<std::size_t>(OC); ++o) {
    for (int c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < taps; ++i) unfolded.push_back(tensor->values[o * taps + i] / 3.0F);
    }
  }
  tensor->shape = {OC, channels, tensor->shape[2], tensor->shape[3]};
  tensor->values = std::move(unfolded);
  preprocess = data::with_channels(preprocess, channels);
  info.preprocess = preprocess.to_value();
  info.graph = with_image_channels(graph::print_graph_any_batch(graph), channels);
}

}  // namespace roentgen::publish
