// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/heatmap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/reference/reference_run.h"
#include "graph/builder.h"

namespace roentgen::train {
namespace {

constexpr std::string_view kChosen = "heat.chosen";

// Appends a linear layer that selects one logit, so that the output to differentiate is a scalar.
graph::Graph with_choice(graph::Graph tail) {
  const graph::NodeId logits = tail.output("logits");
  graph::Builder builder(std::move(tail));
  builder.output("chosen",
                 builder.add(std::string(kChosen), graph::Linear{.out_features = 1, .bias = false}, {logits}));
  return std::move(builder).build();
}

std::vector<float> stored(const engine::Executable& executable, const std::string& name) {
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return executable.store(static_cast<std::int32_t>(i));
  }
  return {};
}

}  // namespace

// The layers after the feature map, interpreted in double precision and differentiable.
class HeatMapper::Tail {
 public:
  Tail(const engine::Executable& executable, const HeatHead& head)
      : graph_(with_choice(tail_of(executable.graph(), head))), run_(graph_, engine::Form::Training) {
    for (const graph::Node& node : graph_.nodes()) load(executable, node);
    labels_ = graph_.node(graph_.output("logits")).shape[1];
  }

  /// Returns the mean gradient of a logit over the cells of each channel.
  std::vector<double> channel_gradients(std::span<const float> features, std::int64_t label) {
    std::vector<double> choice(static_cast<std::size_t>(labels_), 0.0);
    choice[static_cast<std::size_t>(label)] = 1.0;
    run_.set(std::string(kChosen) + ".weight", choice);
    run_.set(kFeaturesOutput, features);
    run_.forward();
    run_.backward("chosen");
    const engine::reference::Array& gradient = run_.value_gradient(graph_.find(kFeaturesOutput));
    const auto cells = static_cast<std::size_t>(gradient.shape[2] * gradient.shape[3]);
    std::vector<double> means(static_cast<std::size_t>(gradient.shape[1]), 0.0);
    for (std::size_t i = 0; i < gradient.data.size(); ++i) {
      means[i / cells] += gradient.data[i] / static_cast<double>(cells);
    }
    return means;
  }

 private:
  void load(const engine::Executable& executable, const graph::Node& node) {
    const graph::NodeId original = executable.graph().find(node.name);
    if (original < 0) return;
    if (const auto* norm = std::get_if<graph::BatchNorm>(&executable.graph().node(original).op)) {
      load_frozen(executable, node.name, norm->epsilon);
      return;
    }
    for (const std::int32_t parameter : node.parameters) {
      const std::string& name = graph_.parameter(parameter).name;
      run_.set(name, stored(executable, name));
    }
  }

  // Loads scale * (x - mean) / sqrt(variance + epsilon) + shift in the form weight * x + bias.
  void load_frozen(const engine::Executable& executable, const std::string& name, double epsilon) {
    const std::vector<float> scale = stored(executable, name + ".weight");
    const std::vector<float> shift = stored(executable, name + ".bias");
    const std::vector<float> mean = stored(executable, name + ".running_mean");
    const std::vector<float> variance = stored(executable, name + ".running_var");
    std::vector<double> weight(scale.size());
    std::vector<double> bias(scale.size());
    for (std::size_t c = 0; c < scale.size(); ++c) {
      weight[c] = static_cast<double>(scale[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon);
      bias[c] = static_cast<double>(shift[c]) - weight[c] * static_cast<double>(mean[c]);
    }
    run_.set(name + ".weight", weight);
    run_.set(name + ".bias", bias);
  }

  graph::Graph graph_;
  engine::reference::ReferenceRun run_;
  std::int64_t labels_ = 0;
};

HeatMapper::HeatMapper(const engine::Executable& executable, const HeatHead& head)
    : executable_(executable), head_(head) {
  const Shape& shape = executable.graph().node(head.features).shape;
  channels_ = shape[1];
  height_ = shape[2];
  width_ = shape[3];
  if (head.method == HeatMethod::GradCam) {
    tail_ = std::make_unique<Tail>(executable, head);
    return;
  }
  const std::vector<float> weights = stored(executable, executable.graph().node(head.linear).name + ".weight");
  weights_.assign(weights.begin(), weights.end());
}

HeatMapper::~HeatMapper() = default;

eval::CoarseMap HeatMapper::map(std::int64_t row, std::int64_t label) {
  const auto per_image = static_cast<std::size_t>(channels_ * height_ * width_);
  const std::span<const float> features =
      executable_.read(kFeaturesOutput).subspan(static_cast<std::size_t>(row) * per_image, per_image);
  if (head_.method == HeatMethod::Cam) {
    const auto C = static_cast<std::size_t>(channels_);
    return eval::weighted_sum(features, std::span(weights_).subspan(static_cast<std::size_t>(label) * C, C), width_,
                              height_);
  }
  eval::CoarseMap map = eval::weighted_sum(features, tail_->channel_gradients(features, label), width_, height_);
  for (float& value : map.values) value = std::max(value, 0.0F);
  return map;
}

}  // namespace roentgen::train
